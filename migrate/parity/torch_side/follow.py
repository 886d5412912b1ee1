"""Run torch along MindSpore's own activations, to tell a kink from a fault.

A ReLU whose input is almost zero may be open in one framework and shut in the other, and every
gradient before it then jumps, although nothing is wrong. Noise runs show that only if one of them
happens to cross the same kink. Where all outputs agree, torch can instead be led over MindSpore's
side of it: each layer's output is replaced by MindSpore's, which differs from it by allowed noise,
and the gradients are torch's own at that place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from migrate.parity.judge.matching import squeezed
from migrate.parity.request import inputs
from migrate.parity.torch_side.refill import refill
from migrate.parity.torch_side.step import is_tensor
from migrate.parity.workers import record


class _Put(torch.autograd.Function):  # type: ignore[misc]
    """Another value, the same gradient."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return gradient, None


@contextmanager
def along(model: torch.nn.Module, folder: Path) -> Iterator[None]:
    """While this lasts, the first call of everything gives what MindSpore recorded for it."""
    step = record.read_step(folder)
    paired: dict[str, str] = step.start["matching"]["modules"]
    theirs = {(event["path"], event["call"]): event["outputs"] for event in step.run["events"]}
    calls: dict[str, int] = {}
    handles = []

    def put(path: str) -> Callable[..., Any]:
        def hook(module: Any, args: Any, output: Any) -> Any:
            call = calls.get(path, 0)
            calls[path] = call + 1
            keys = theirs.get((paired[path], call))
            found = [tensor for _, tensor in inputs.flatten(output, is_tensor)]
            if keys is None or len(keys) != len(found):
                return output
            values = [_like(t, step.tensors[key]) for t, key in zip(found, keys, strict=True)]
            if any(value is None for value in values):
                return output
            supply = iter([_Put.apply(t, v) for t, v in zip(found, values, strict=True)])
            return refill(output, supply, is_tensor)

        return hook

    for path, module in model.named_modules():
        if path in paired and not list(module.children()):
            handles.append(module.register_forward_hook(put(path)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _like(tensor: torch.Tensor, array: Any) -> torch.Tensor | None:
    """MindSpore's array in the shape and type of torch's tensor, if it can have them."""
    if not tensor.is_floating_point() or squeezed(tuple(tensor.shape)) != squeezed(array.shape):
        return None
    return torch.from_numpy(array.copy()).reshape(tensor.shape).to(tensor.dtype)
