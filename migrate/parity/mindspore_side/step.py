"""Take training steps in MindSpore, eagerly with every layer watched, or compiled as one graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import mindspore
import numpy as np
from mindspore import nn, ops

from migrate.parity.mindspore_side import repeated_call
from migrate.parity.mindspore_side.arrays import Arrays, to_array
from migrate.parity.request import inputs
from migrate.parity.workers.spill_dict import SpillDict
from migrate.parity.workers.watch import Event, Watch


def is_tensor(value: Any) -> bool:
    return isinstance(value, mindspore.Tensor)


def tensors_of(output: Any) -> list[Any]:
    """The tensors in an output, in code that MindSpore can compile."""
    if isinstance(output, mindspore.Tensor):
        return [output]
    found = []
    if isinstance(output, dict):
        for item in output.values():
            found += tensors_of(item)
    elif isinstance(output, (tuple, list)):
        for item in output:
            found += tensors_of(item)
    return found


def ways_to(output: Any, path: str) -> list[str]:
    """The ways to those tensors, as inputs.flatten names them, in code that MindSpore can
    compile.
    """
    if isinstance(output, mindspore.Tensor):
        return [path]
    found = []
    if isinstance(output, dict):
        for key in output.keys():  # noqa: SIM118 (the graph compiler does not walk a dict)
            step = "['" + key + "']" if isinstance(key, str) else "[" + str(key) + "]"
            found += ways_to(output[key], path + step)
    elif isinstance(output, (tuple, list)):
        for index in range(len(output)):
            found += ways_to(output[index], path + "[" + str(index) + "]")
    return found


class Recorder(Watch):
    """Inputs, outputs and their gradients as arrays (PyNative only)."""

    def __init__(self, model: nn.Cell, arrays: Arrays, loss_scale: float) -> None:
        self._arrays = arrays
        self._loss_scale = loss_scale
        # identity -> (the tensor, held so that its identity stays its own; its key)
        self._known: dict[int, tuple[Any, str]] = {}
        super().__init__(model.cells_and_names(), is_tensor)

    def key(self, tensor: Any) -> str:
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
    # Of the whole output, and of the tensors in it.
    loss: Callable[[Any, Any], Any]
    optimizer: Any
    steps: int
    layers: bool
    names: dict[int, str]
    loss_scale: float = 1.0
    repeat: bool = True  # call a compiled step twice; False where random numbers are drawn in it


@dataclass
class Result:
    """What a run gave, or how far it came."""

    arrays: Arrays
    events: list[Event]
    entered: list[Event]
    error: BaseException | None = None
    notes: list[str] = field(default_factory=list)


def run(setup: Setup, *, compiled: bool, enter: Callable[[str], None]) -> Result:
    """Take the steps; an error inside the model is kept with what was recorded until then."""
    arrays = SpillDict()
    result = Result(arrays, [], [])
    trainable = _in_optimizer_order(setup)
    before = SpillDict()
    for parameter in trainable:
        before[setup.names[id(parameter)]] = to_array(parameter)
    start = repeated_call.Start(setup.model) if compiled and _calls_again(setup) else None
    forward = _compiled_forward(setup) if compiled else _watched_forward(setup)
    step = _step_function(setup, trainable, forward)
    if compiled:
        step = mindspore.jit(step)
    for index in range(setup.steps):
        watch = index == 0 and setup.layers and not compiled
        recorder = Recorder(setup.model, arrays, setup.loss_scale) if watch else None
        try:
            enter(f"{'graph' if compiled else 'pynative'} step {index + 1} of {setup.steps}")
            loss, output, ways, input_slopes, slopes = step(*setup.inputs.values())
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
        for position, (way, tensor) in enumerate(inputs.flatten(output, is_tensor)):
            arrays[f"output:{ways[position] if ways else way}"] = to_array(tensor)
        arrays["loss:"] = to_array(loss) / np.float32(setup.loss_scale)
        _take_gradients(setup, trainable, slopes, input_slopes, arrays)
        _take_state(setup, trainable, before, arrays, "update", "buffer")
    if start is not None and result.error is None:
        enter("graph step 1 once more")
        start.restore()
        slopes = step(*setup.inputs.values())[-1]
        named = [(setup.names[id(p)], slope) for p, slope in zip(trainable, slopes, strict=True)]
        result.notes += repeated_call.compare(named, arrays)
    if setup.steps > 1 and result.error is None:
        _take_state(setup, trainable, before, arrays, "final", "final-buffer")
        _take_optimizer_state(setup, arrays)
    return result


def _calls_again(setup: Setup) -> bool:
    """Further steps would show a graph that is right at its first call alone."""
    return setup.repeat and setup.steps == 1 and bool(setup.model.trainable_params())


def _in_optimizer_order(setup: Setup) -> list[Any]:
    """Trainable parameters as the optimizer lists them: to put gradients in order inside a graph
    costs seconds of compilation.
    """
    owned = list(setup.optimizer.parameters) if setup.optimizer is not None else []
    known = {id(parameter) for parameter in owned}
    return [*owned, *(p for p in setup.model.trainable_params() if id(p) not in known)]


def _compiled_forward(setup: Setup) -> Callable[..., Any]:
    """The loss, the tensors of the output and the ways to them: a gradient function that returns a
    dict which was made from another dict does not compile.
    """
    call, loss_of, scale = setup.call, setup.loss, setup.loss_scale

    def forward(*given: Any) -> Any:
        output = call(*given)
        tensors = tensors_of(output)
        if len(tensors) == 0:
            raise TypeError("a graph finds no tensor in what the model returns")
        loss = loss_of(output, tensors) * scale
        return loss, tuple(tensors), tuple(ways_to(output, ""))

    return forward


def _watched_forward(setup: Setup) -> Callable[..., Any]:
    """Outside a graph a model may return what it likes, but a gradient function only tuples."""

    def forward(*given: Any) -> Any:
        output = setup.call(*given)
        found = inputs.flatten(output, is_tensor)
        tensors = tuple(tensor for _, tensor in found)
        loss = setup.loss(output, tensors) * setup.loss_scale
        return loss, tensors, tuple(way for way, _ in found)

    return forward


def _divided(scale: float, slope: Any) -> Any:
    return slope / scale


def _step_function(
    setup: Setup, trainable: list[Any], forward: Callable[..., Any]
) -> Callable[..., Any]:
    scale = setup.loss_scale
    optimizer = setup.optimizer
    every = ops.HyperMap()  # the compiler would unroll a loop: too deep for many parameters
    positions = tuple(
        i for i, value in enumerate(setup.inputs.values()) if value.is_floating_point()
    )
    owned = len(optimizer.parameters) if optimizer is not None else 0

    weights = mindspore.ParameterTuple(trainable) if trainable else None
    if weights is None and not positions:

        def without_slopes(*given: Any) -> Any:
            loss, output, ways = forward(*given)
            return loss, output, ways, (), ()

        return without_slopes
    slopes_of = mindspore.value_and_grad(forward, positions or None, weights, has_aux=True)

    def step(*given: Any) -> Any:
        (loss, output, ways), found = slopes_of(*given)
        if positions and weights is not None:
            input_slopes, slopes = found
        elif positions:
            input_slopes, slopes = found, ()
        else:
            input_slopes, slopes = (), found
        if scale != 1.0:
            slopes = every(ops.partial(_divided, scale), slopes)
        if optimizer is not None:
            optimizer(slopes if owned == len(trainable) else slopes[:owned])
        return loss, output, ways, input_slopes, slopes

    return step


def _take_gradients(
    setup: Setup, trainable: list[Any], slopes: Any, input_slopes: Any, arrays: Arrays
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
    before: Mapping[str, Any],
    arrays: Arrays,
    parameters: str,
    buffers: str,
) -> None:
    own = {id(p) for p in trainable}
    for parameter in trainable:
        name = setup.names[id(parameter)]
        arrays[f"{parameters}:{name}"] = to_array(parameter) - before[name]
    for parameter in setup.model.get_parameters():
        if (
            id(parameter) not in own
            and id(parameter) in setup.names
            and parameter.is_floating_point()
        ):
            arrays[f"{buffers}:{setup.names[id(parameter)]}"] = to_array(parameter)


# What MindSpore's optimizers call the state that torch keeps per parameter.
STATE_NAMES: dict[str, tuple[str, ...]] = {
    "momentum_buffer": ("momentum_buffer", "accum", "moments"),
    "exp_avg": ("exp_avg", "moment1", "moments1"),
    "exp_avg_sq": ("exp_avg_sq", "moment2", "moments2"),
    "square_avg": ("square_avg", "mean_square", "ms"),
    "sum": ("sum", "accum", "accumulator"),
}


def _take_optimizer_state(setup: Setup, arrays: Arrays) -> None:
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
