"""Take training steps in torch and hand every tensor of interest, named, to a sink."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import torch

from migrate.parity.request import inputs
from migrate.parity.torch_side.spilled_tensors import Tensors
from migrate.parity.workers.watch import Event, Watch

Tensor: TypeAlias = "torch.Tensor"


class Sink(Protocol):
    """Takes each tensor under its key: keeps it, or measures it against the one kept before."""

    def take(self, key: str, tensor: Tensor) -> None: ...


def is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


class Recorder(Watch):
    """Inputs, outputs and their gradients, handed to a sink."""

    def __init__(self, model: torch.nn.Module, sink: Sink, loss_scale: float = 1.0) -> None:
        self._sink = sink
        self._loss_scale = loss_scale
        # (identity, version) -> (the tensor, held so that its identity stays its own; its key)
        self._known: dict[tuple[int, int], tuple[Tensor, str]] = {}
        self._count = 0
        super().__init__(model.named_modules(), is_tensor)

    def key(self, tensor: Tensor) -> str:
        identity = (id(tensor), tensor._version)
        if identity in self._known:
            return self._known[identity][1]
        key = f"value:{self._count}"
        self._count += 1
        self._known[identity] = (tensor, key)
        self._sink.take(key, tensor.detach())
        if tensor.requires_grad:
            tensor.register_hook(self._gradient_hook(f"slope:{key}"))
        return key

    def _gradient_hook(self, key: str) -> Callable[[Tensor], None]:
        def hook(gradient: Tensor) -> None:
            self._sink.take(key, gradient.detach() / self._loss_scale)

        return hook


@dataclass
class Setup:
    """Everything a run needs, the same for each precision."""

    model: torch.nn.Module
    inputs: dict[str, Tensor]
    target: Tensor | None
    loss: Callable[[Any, Any], Any]
    optimizer: Callable[[], Any]
    steps: int
    layers: bool
    # For a run in lower precision: a context to run the forward in, and a factor on the loss.
    context: Callable[[], Any] = nullcontext
    loss_scale: float = 1.0


def run(setup: Setup, dtype: torch.dtype, sink: Sink) -> list[Event]:
    """Take the steps once, in a precision, from the model's present state."""
    model = setup.model
    given = {name: _as(value, dtype) for name, value in setup.inputs.items()}
    for value in given.values():
        if value.is_floating_point():
            value.requires_grad_(True)
    target = _as(setup.target, dtype) if setup.target is not None else None
    before = Tensors(dict(model.named_parameters()))
    optimizer = setup.optimizer()
    events: list[Event] = []
    for index in range(setup.steps):
        recorder = Recorder(model, sink, setup.loss_scale) if index == 0 and setup.layers else None
        args, kwargs = inputs.arguments(given)
        try:
            with setup.context():
                output = model(*args, **kwargs)
        finally:
            if recorder is not None:
                recorder.close()
                events = recorder.events
        outputs = inputs.flatten(output, is_tensor)
        loss = setup.loss(output, target)
        optimizer.zero_grad(set_to_none=True)
        if loss.requires_grad:
            (loss * setup.loss_scale).backward()
        _unscale(model, setup.loss_scale)
        if index == 0:
            for way, tensor in outputs:
                sink.take(f"output:{way}", tensor.detach())
            sink.take("loss:", loss.detach())
            _take_gradients(model, given, setup.loss_scale, sink)
        else:
            sink.take(f"curve:{index}", loss.detach())
        optimizer.step()
        if index == 0:
            _take_state(model, before, sink, "update", "buffer")
    if setup.steps > 1:
        _take_state(model, before, sink, "final", "final-buffer")
        _take_optimizer_state(model, optimizer, sink)
    return events


def _take_gradients(
    model: torch.nn.Module, given: dict[str, Tensor], scale: float, sink: Sink
) -> None:
    for name, value in given.items():
        if value.grad is not None:
            sink.take(f"input-gradient:{name}", value.grad / scale)
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            gradient = parameter.grad if parameter.grad is not None else torch.zeros_like(parameter)
            sink.take(f"gradient:{name}", gradient.detach())


def _take_state(
    model: torch.nn.Module, before: Mapping[str, Tensor], sink: Sink, parameters: str, buffers: str
) -> None:
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            sink.take(f"{parameters}:{name}", parameter.detach() - before[name])
    for name, buffer in model.named_buffers():
        if buffer.is_floating_point():
            sink.take(f"{buffers}:{name}", buffer.detach())


def _take_optimizer_state(model: torch.nn.Module, optimizer: Any, sink: Sink) -> None:
    for name, parameter in model.named_parameters():
        for kind, value in optimizer.state.get(parameter, {}).items():
            if isinstance(value, torch.Tensor) and value.shape == parameter.shape and value.dim():
                sink.take(f"state:{kind}:{name}", value.detach())


def _unscale(model: torch.nn.Module, scale: float) -> None:
    if scale != 1.0:
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad.div_(scale)


def _as(value: Tensor, dtype: torch.dtype) -> Tensor:
    return value.detach().to(dtype).clone() if value.is_floating_point() else value
