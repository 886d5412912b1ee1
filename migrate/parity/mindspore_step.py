"""Take training steps in MindSpore, eagerly with every layer watched, or compiled as one graph."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import mindspore
import numpy as np
from mindspore import nn

from migrate.parity import inputs, structure

Array = Any


def is_tensor(value: Any) -> bool:
    return isinstance(value, mindspore.Tensor)


def to_array(value: Any) -> Array:
    if value.dtype in (mindspore.bfloat16, mindspore.float16):
        value = value.astype(mindspore.float32)
    return np.array(value.asnumpy(), copy=True)


@dataclass
class Event:
    """One call of one cell."""

    path: str
    call: int
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    ways: list[str] = field(default_factory=list)
    called: structure.Place | None = None


class Recorder:
    """Hooks on every cell: inputs, outputs and their gradients, in order of execution (PyNative
    only).
    """

    def __init__(self, model: nn.Cell, arrays: dict[str, Array], loss_scale: float) -> None:
        self.events: list[Event] = []
        self.entered: list[Event] = []
        self._arrays = arrays
        self._loss_scale = loss_scale
        self._calls: dict[str, int] = {}
        # identity -> (the tensor, held so that its identity stays its own; its key)
        self._known: dict[int, tuple[Any, str]] = {}
        self._handles: list[Any] = []
        for path, cell in model.cells_and_names():
            self._handles.append(
                cell.register_forward_pre_hook(self._before(path), with_kwargs=True)
            )
            self._handles.append(cell.register_forward_hook(self._after(path), with_kwargs=True))

    def close(self) -> None:
        for handle in self._handles:
            handle.remove()

    def _before(self, path: str) -> Callable[..., None]:
        def hook(cell: Any, args: Any, kwargs: Any) -> None:
            call = self._calls.get(path, 0)
            self._calls[path] = call + 1
            event = Event(path, call, called=structure.user_frame("mindspore"))
            for _, tensor in inputs.flatten((args, kwargs), is_tensor):
                event.inputs.append(self._key(tensor))
            self.entered.append(event)

        return hook

    def _after(self, path: str) -> Callable[..., None]:
        def hook(cell: Any, args: Any, kwargs: Any, output: Any) -> None:
            event = self.entered.pop()
            for way, tensor in inputs.flatten(output, is_tensor):
                event.outputs.append(self._key(tensor))
                event.ways.append(way)
            self.events.append(event)

        return hook

    def _key(self, tensor: Any) -> str:
        if id(tensor) in self._known:
            return self._known[id(tensor)][1]
        key = f"value:{len(self._known)}"
        self._known[id(tensor)] = (tensor, key)
        self._arrays[key] = to_array(tensor)
        if tensor.is_floating_point():
            # A tensor outside the differentiated graph has no gradient to watch.
            with suppress(RuntimeError, ValueError, TypeError):
                tensor.register_hook(self._gradient_hook(f"slope:{key}"))
        return key

    def _gradient_hook(self, key: str) -> Callable[[Any], None]:
        def hook(gradient: Any) -> None:
            self._arrays[key] = to_array(gradient) / np.float32(self._loss_scale)

        return hook


@dataclass
class Setup:
    """Everything a run needs; parameters are under torch's names."""

    model: nn.Cell
    inputs: dict[str, Any]
    call: Callable[..., Any]
    loss: Callable[[Any], Any]
    optimizer: Any
    prepare: Callable[[Any], Any]
    steps: int
    layers: bool
    names: dict[int, str]
    loss_scale: float = 1.0


@dataclass
class Result:
    """What a run gave, or how far it came."""

    arrays: dict[str, Array]
    events: list[Event]
    entered: list[Event]
    error: BaseException | None = None


def run(setup: Setup, *, compiled: bool, enter: Callable[[str], None]) -> Result:
    """Take the steps; an error inside the model is kept with what was recorded until then."""
    arrays: dict[str, Array] = {}
    result = Result(arrays, [], [])
    trainable = list(setup.model.trainable_params())
    before = {id(p): to_array(p) for p in trainable}
    step = _step_function(setup, trainable)
    if compiled:
        step = mindspore.jit(step)
    for index in range(setup.steps):
        watch = index == 0 and setup.layers and not compiled
        recorder = Recorder(setup.model, arrays, setup.loss_scale) if watch else None
        try:
            enter(f"{'graph' if compiled else 'pynative'} step {index + 1} of {setup.steps}")
            loss, output, input_slopes, slopes = step(*setup.inputs.values())
        except Exception as error:
            result.error = error
            break
        finally:
            if recorder is not None:
                recorder.close()
                result.events, result.entered = recorder.events, recorder.entered
        if index:
            arrays[f"curve:{index}"] = to_array(loss) / np.float32(setup.loss_scale)
            continue
        for way, tensor in inputs.flatten(output, is_tensor):
            arrays[f"output:{way}"] = to_array(tensor)
        arrays["loss:"] = to_array(loss) / np.float32(setup.loss_scale)
        _take_gradients(setup, trainable, slopes, input_slopes, arrays)
        _take_state(setup, trainable, before, arrays, "update", "buffer")
    if setup.steps > 1 and result.error is None:
        _take_state(setup, trainable, before, arrays, "final", "final-buffer")
        _take_optimizer_state(setup, arrays)
    return result


def _step_function(setup: Setup, trainable: list[Any]) -> Callable[..., Any]:
    call, loss_of, scale = setup.call, setup.loss, setup.loss_scale
    optimizer, prepare = setup.optimizer, setup.prepare
    positions = tuple(
        i for i, value in enumerate(setup.inputs.values()) if value.is_floating_point()
    )
    owned = [id(p) for p in (optimizer.parameters if optimizer is not None else ())]
    places = {id(p): i for i, p in enumerate(trainable)}
    order = [places[identity] for identity in owned]

    def forward(*given: Any) -> Any:
        output = call(*given)
        return loss_of(output) * scale, output

    weights = mindspore.ParameterTuple(trainable) if trainable else None
    if weights is None and not positions:

        def without_slopes(*given: Any) -> Any:
            loss, output = forward(*given)
            return loss, output, (), ()

        return without_slopes
    slopes_of = mindspore.value_and_grad(forward, positions or None, weights, has_aux=True)

    def step(*given: Any) -> Any:
        (loss, output), found = slopes_of(*given)
        if positions and weights is not None:
            input_slopes, slopes = found
        elif positions:
            input_slopes, slopes = found, ()
        else:
            input_slopes, slopes = (), found
        if scale != 1.0:
            slopes = tuple([slope / scale for slope in slopes])
        if optimizer is not None:
            optimizer(prepare(tuple([slopes[i] for i in order])))
        return loss, output, input_slopes, slopes

    return step


def _take_gradients(
    setup: Setup, trainable: list[Any], slopes: Any, input_slopes: Any, arrays: dict[str, Array]
) -> None:
    for parameter, slope in zip(trainable, slopes, strict=True):
        arrays[f"gradient:{setup.names[id(parameter)]}"] = to_array(slope)
    floats = [name for name, value in setup.inputs.items() if value.is_floating_point()]
    single = is_tensor(input_slopes)
    for name, slope in zip(floats, [input_slopes] if single else input_slopes, strict=True):
        arrays[f"input-gradient:{name}"] = to_array(slope) / np.float32(setup.loss_scale)


def _take_state(
    setup: Setup,
    trainable: list[Any],
    before: dict[int, Array],
    arrays: dict[str, Array],
    parameters: str,
    buffers: str,
) -> None:
    own = {id(p) for p in trainable}
    for parameter in trainable:
        arrays[f"{parameters}:{setup.names[id(parameter)]}"] = (
            to_array(parameter) - before[id(parameter)]
        )
    for parameter in setup.model.get_parameters():
        if (
            id(parameter) not in own
            and id(parameter) in setup.names
            and parameter.is_floating_point()
        ):
            arrays[f"{buffers}:{setup.names[id(parameter)]}"] = to_array(parameter)


# What MindSpore's optimizers call the state that torch keeps per parameter.
STATE_NAMES: dict[str, tuple[str, ...]] = {
    "momentum_buffer": ("accum", "moments", "momentum_buffer"),
    "exp_avg": ("exp_avg", "moment1", "moments1"),
    "exp_avg_sq": ("exp_avg_sq", "moment2", "moments2"),
    "square_avg": ("mean_square", "square_avg", "ms"),
    "sum": ("accum", "accumulator"),
}


def _take_optimizer_state(setup: Setup, arrays: dict[str, Array]) -> None:
    if setup.optimizer is None:
        return
    owned = list(setup.optimizer.parameters)
    held = {**vars(setup.optimizer), **getattr(setup.optimizer, "_params_list", {})}
    for kind, attributes in STATE_NAMES.items():
        found = next((held[a] for a in attributes if _is_state(held.get(a), owned)), None)
        for parameter, state in zip(owned, found or (), strict=False):
            arrays[f"state:{kind}:{setup.names[id(parameter)]}"] = to_array(state)


def _is_state(value: Any, owned: list[Any]) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) == len(owned)
        and all(tuple(a.shape) == tuple(b.shape) for a, b in zip(value, owned, strict=True))
    )
