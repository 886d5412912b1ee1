"""Precisions of a torch run: the jitter that measures noise, and mixed precision as MindSpore's
levels mean it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from migrate.parity.torch_side import step as torch_step
from migrate.parity.workers.watch import Event

LEVELS = ("O0", "O1", "O2", "O3")
LOSS_SCALE = 1024.0
_NORMS = (torch.nn.modules.batchnorm._NormBase, torch.nn.LayerNorm, torch.nn.GroupNorm)


def unit(level: str) -> float:
    """One unit in the last place, relative, of the type the weights are used in."""
    return 2.0**-23 if level == "O0" else 2.0**-11


@torch.no_grad()  # type: ignore[untyped-decorator]
def jitter(model: torch.nn.Module, seed: int, relative: float) -> None:
    """Move every weight by about one unit in the last place."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        if parameter.is_floating_point():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float32)
            parameter.mul_(
                1.0 + relative * noise.to(torch.float64)
            ) if parameter.dtype == torch.float64 else (
                parameter.copy_(
                    (parameter.double() * (1.0 + relative * noise.double())).to(parameter.dtype)
                )
            )


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Tensors that the model makes while running follow the precision of the run."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def run_lower(setup: torch_step.Setup, level: str, sink: torch_step.Sink) -> list[Event]:
    """A step in mixed precision: O1 is autocast, O2 is float16 but for norms, O3 is float16
    throughout.
    """
    if level == "O1":

        def autocast() -> Any:
            return torch.autocast("cpu", dtype=torch.float16)

        return torch_step.run(
            replace(setup, context=autocast, loss_scale=LOSS_SCALE), torch.float32, sink
        )
    handles = _halve(setup.model, keep_norms=level == "O2")
    try:
        lowered = replace(setup, loss=_in_float32(setup.loss), loss_scale=LOSS_SCALE)
        return torch_step.run(lowered, torch.float32, sink)
    finally:
        for handle in handles:
            handle.remove()


def _halve(model: torch.nn.Module, *, keep_norms: bool) -> list[Any]:
    """Compute in float16 while the weights stay float32, as a mixed precision optimizer sees
    them.
    """
    handles = []
    for module in model.modules():
        # A container computes nothing itself, unless its forward uses parameters of its own.
        if list(module.children()) and not module._parameters:
            continue
        norm = isinstance(module, _NORMS)
        dtype = torch.float32 if norm and keep_norms else torch.float16
        # A norm's statistics are float32, and its kernel wants its weights to be like them.
        hook = _caster(dtype, weights=not norm)
        handles.append(module.register_forward_pre_hook(hook, with_kwargs=True))
        handles.append(module.register_forward_hook(_restorer(norm=norm)))
    return handles


def _caster(dtype: torch.dtype, *, weights: bool) -> Any:
    def hook(layer: Any, args: Any, kwargs: Any) -> Any:
        if weights:
            layer._ms_migrate_kept = dict(layer._parameters)
            for name, parameter in layer._ms_migrate_kept.items():
                if parameter is not None and parameter.is_floating_point():
                    # Autograd sees the cast, so the gradient arrives at the float32 weight.
                    layer._parameters.pop(name)
                    object.__setattr__(layer, name, parameter.to(dtype))
        return _cast(args, dtype), _cast(kwargs, dtype)

    return hook


def _restorer(*, norm: bool) -> Any:
    def hook(layer: Any, args: Any, output: Any) -> Any:
        kept = layer.__dict__.pop("_ms_migrate_kept", None)
        for name, parameter in (kept or {}).items():
            layer.__dict__.pop(name, None)
            layer._parameters[name] = parameter
        # What a norm computes in float32 goes on in float16, as in MindSpore.
        return _cast(output, torch.float16) if norm else output

    return hook


def _in_float32(loss: Any) -> Any:
    return lambda output, target: loss(_cast(output, torch.float32), target)


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: _cast(item, dtype) for key, item in value.items()}
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_cast(item, dtype) for item in value)
    return [_cast(item, dtype) for item in value] if isinstance(value, list) else value
