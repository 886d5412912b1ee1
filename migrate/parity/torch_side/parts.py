"""The torch worker for parts: each suspect alone, fed what it was fed, in float64 and in
float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from migrate.parity.request import inputs, plan
from migrate.parity.torch_side import model as torch_model
from migrate.parity.torch_side import precision
from migrate.parity.torch_side import step as torch_step
from migrate.parity.torch_side.capture import Keep, Measure, _array, _NoOptimizer
from migrate.parity.torch_side.refill import refill
from migrate.parity.workers import record, statements
from migrate.parity.workers.worker_main import Progress
from migrate.vision_shim import ensure_torchvision


class Part(torch.nn.Module):  # type: ignore[misc]
    """A submodule as a model of its own: takes the tensors of one recorded call, in order."""

    def __init__(self, inner: torch.nn.Module, args: Any, kwargs: Any) -> None:
        super().__init__()
        self.inner = inner
        self._call = (args, kwargs)

    def forward(self, *tensors: torch.Tensor) -> Any:
        supply = iter(tensors)
        args, kwargs = refill(self._call, supply, torch_step.is_tensor)
        return self.inner(*args, **kwargs)


class _Found(Exception):
    """The call that was looked for has been reached; there is no need to run on."""


def recorded_call(
    model: torch.nn.Module, path: str, call: int, given: dict[str, torch.Tensor]
) -> tuple[Any, Any]:
    """Run the model up to one call of one submodule and return that call's arguments."""
    seen: list[tuple[Any, Any]] = []

    def hook(module: Any, args: Any, kwargs: Any) -> None:
        seen.append((args, kwargs))
        if len(seen) > call:
            raise _Found

    handle = model.get_submodule(path).register_forward_pre_hook(hook, with_kwargs=True)
    args, kwargs = inputs.arguments({name: value.clone() for name, value in given.items()})
    try:
        with torch.no_grad():
            model(*args, **kwargs)
    except _Found:
        pass
    finally:
        handle.remove()
    return seen[call]


def run(job: dict[str, Any], progress: Progress) -> None:
    """Run each part and write its outputs and gradients with their floors."""
    start, given = record.read_start(Path(job["reference"]))
    what = plan.from_json(start["plan"])
    recorded = record.Tensors(Path(job["reference"]) / "run.safetensors")
    progress.enter("importing the model")
    ensure_torchvision()
    torch_model.quiet_functions()
    model, _ = torch_model.build(start["target"], what.seed)
    torch_model.quiet_layers(model, change=True)
    model.train(what.train)
    state = {
        n.removeprefix("weight:"): torch.from_numpy(given[n])
        for n in given.names()
        if n.startswith("weight:")
    }
    whole = {
        n.removeprefix("input:"): torch.from_numpy(given[n])
        for n in given.names()
        if n.startswith("input:")
    }
    arrays: dict[str, Any] = {}
    floors: dict[str, list[float]] = {}
    bound: dict[str, list[dict[str, Any]]] = {}
    for index, part in enumerate(job["parts"]):
        progress.enter(f"{part['path'] or 'the model'} alone")
        torch_model.to_precision(model, torch.float32)
        torch_model.set_state(model, state)
        args, kwargs = recorded_call(model, part["path"], part["call"], whole)
        torch_model.set_state(model, state)
        alone = Part(model.get_submodule(part["path"]), args, kwargs)
        fed = {
            str(i): torch.from_numpy(recorded[key].copy()) for i, key in enumerate(part["inputs"])
        }
        slopes = [
            torch.from_numpy(recorded[f"slope:{key}"].copy())
            if f"slope:{key}" in recorded
            else None
            for key in part["outputs"]
        ]
        truth, found = _run_part(model, alone, fed, slopes, state, what)
        for key, tensor in truth.items():
            word, _, name = key.partition(":")
            if word in ("output", "gradient", "input-gradient"):
                arrays[f"{index}:{word}:{name.removeprefix('inner.')}"] = _array(tensor)
        floors |= {f"{index}:{k.replace(':inner.', ':')}": v for k, v in found.items()}
        if part["statements"]:
            kept, bound[str(index)], found = _run_statements(model, alone, fed, state, what)
            arrays |= {f"{index}:{key}": _array(tensor) for key, tensor in kept.items()}
            floors |= {f"{index}:{key}": floor for key, floor in found.items()}
    info = {"mode": "parts", "floors": floors, "bound": bound, "notes": []}
    record.write_part(Path(job["step"]), "run", info, arrays)


def _run_part(
    model: torch.nn.Module,
    alone: Part,
    fed: dict[str, torch.Tensor],
    slopes: list[torch.Tensor | None],
    state: dict[str, torch.Tensor],
    what: plan.Plan,
) -> tuple[Mapping[str, torch.Tensor], dict[str, list[float]]]:
    def loss(output: Any, goal: Any) -> Any:
        tensors = [tensor for _, tensor in inputs.flatten(output, torch_step.is_tensor)]
        terms = [
            (t * s.to(t.dtype)).sum()
            for t, s in zip(tensors, slopes, strict=False)
            if s is not None
        ]
        return sum(terms) if terms else torch.zeros(())

    setup = torch_step.Setup(alone, fed, None, loss, _NoOptimizer, 1, False)
    truth = Keep()
    # Not knowing whether the part can run in float64, fall back on float32 as the whole model does.
    for dtype in (torch.float64, torch.float32):
        try:
            _restore(model, alone, state, dtype)
            with precision.default_dtype(dtype):
                torch_step.run(setup, dtype, truth)
            break
        except (RuntimeError, TypeError):
            truth = Keep()
    measure = Measure(truth.tensors)
    for number in range(max(what.noise_runs, 1)):
        _restore(model, alone, state, torch.float32)
        if number:
            precision.jitter(alone, what.seed + number, precision.unit("O0"))
        torch_step.run(setup, torch.float32, measure)
    return truth.tensors, measure.floors


def _run_statements(
    model: torch.nn.Module,
    alone: Part,
    fed: dict[str, torch.Tensor],
    state: dict[str, torch.Tensor],
    what: plan.Plan,
) -> tuple[Mapping[str, torch.Tensor], list[dict[str, Any]], dict[str, list[float]]]:
    """What the part's own code binds: the values, the statements and the floors."""

    def once(dtype: torch.dtype, sink: torch_step.Sink) -> list[statements.Bound]:
        trace = statements.Trace(
            torch_step.is_tensor,
            lambda tensor: (id(tensor), tensor._version),
            lambda key, tensor: sink.take(key, tensor.detach()),
        )
        given = [t.to(dtype) if t.is_floating_point() else t for t in fed.values()]
        inner = [module for module in alone.inner.modules() if module is not alone.inner]
        with precision.default_dtype(dtype), torch.no_grad(), trace.watching(inner):
            alone(*(tensor.clone() for tensor in given))
        return trace.bound

    for dtype in (torch.float64, torch.float32):
        truth = Keep()
        try:
            _restore(model, alone, state, dtype)
            bound = once(dtype, truth)
            break
        except (RuntimeError, TypeError):
            continue
    else:
        return {}, [], {}
    measure = Measure(truth.tensors)
    for number in range(max(what.noise_runs, 1)):
        _restore(model, alone, state, torch.float32)
        if number:
            precision.jitter(alone, what.seed + number, precision.unit("O0"))
        once(torch.float32, measure)
    return truth.tensors, [one.to_json() for one in bound], measure.floors


def _restore(
    model: torch.nn.Module, alone: Part, state: dict[str, torch.Tensor], dtype: torch.dtype
) -> None:
    torch_model.to_precision(model, dtype)
    torch_model.set_state(model, state)
    alone.zero_grad(set_to_none=True)
