"""The MindSpore worker for parts: each suspect alone, fed torch's inputs and torch's upstream
gradient.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import mindspore

from migrate.parity.judge import matching
from migrate.parity.mindspore_side import call as mindspore_call
from migrate.parity.mindspore_side import capture as capture_mindspore
from migrate.parity.mindspore_side import errors as mindspore_errors
from migrate.parity.mindspore_side import model as mindspore_model
from migrate.parity.mindspore_side import step as mindspore_step
from migrate.parity.mindspore_side.arrays import to_array
from migrate.parity.request import inputs, plan
from migrate.parity.torch_side.refill import refill
from migrate.parity.workers import record, statements
from migrate.parity.workers import structure as structures
from migrate.parity.workers.worker_main import Progress


def run(job: dict[str, Any], progress: Progress) -> None:
    """Run each part in PyNative and write its outputs and gradients."""
    folder = Path(job["step"])
    progress.enter("importing the model")
    capture_mindspore.prepare(job["device"], "pynative", str(progress.folder))
    mindspore_model.quiet_functions()
    reference = Path(job["reference"])
    start, given = record.read_start(reference)
    recorded = record.Tensors(reference / "run.safetensors")
    what = plan.from_json(start["plan"])
    model, modules = mindspore_model.build(job["target"], what.seed)
    mindspore_model.quiet_layers(model, change=True)
    torch_modules = [structures.from_json(module) for module in start["structure"]]
    matched = matching.match(torch_modules, modules, job["renames"])
    model.set_train(what.train)
    whole = {n.removeprefix("input:"): given[n] for n in given.names() if n.startswith("input:")}
    own = mindspore_model.variables(model)
    names = {id(own[pair.mindspore]): pair.torch for pair in reversed(matched.pairs)}
    arrays: dict[str, Any] = {}
    errors: dict[str, Any] = {}
    bound: dict[str, list[dict[str, Any]]] = {}
    for index, part in enumerate(job["parts"]):
        progress.enter(f"{part['other_path'] or 'the model'} alone")
        mindspore_model.load_weights(model, matched, given)
        try:
            args, kwargs = _recorded_call(model, part, whole, start["order"], progress.folder)
            mindspore_model.load_weights(model, matched, given)
            fed = [mindspore.Tensor(recorded[key]) for key in part["inputs"]]
            slopes = [
                mindspore.Tensor(recorded[f"slope:{key}"]) if f"slope:{key}" in recorded else None
                for key in part["outputs"]
            ]
            found = _run_part(
                _cell(model, part["other_path"]), (args, kwargs), fed, slopes, names, part["path"]
            )
        except Exception as error:
            errors[str(index)] = mindspore_errors.describe(error)
            continue
        arrays |= {f"{index}:{key}": array for key, array in found.items()}
        if part["statements"]:
            mindspore_model.load_weights(model, matched, given)
            cell = _cell(model, part["other_path"])
            kept, bound[str(index)] = _run_statements(cell, (args, kwargs), fed)
            arrays |= {f"{index}:{key}": array for key, array in kept.items()}
    shaped = _in_torch_shapes(arrays, torch_modules, job["parts"])
    record.write_part(
        folder,
        "run",
        {
            "mode": "parts",
            "errors": errors,
            "bound": bound,
            "notes": [],
            "framework_version": mindspore.__version__,
        },
        shaped,
    )


class _Found(Exception):
    """The call that was looked for has been reached."""


def _cell(model: Any, path: str) -> Any:
    return dict(model.cells_and_names())[path]


def _recorded_call(
    model: Any, part: dict[str, Any], whole: dict[str, Any], order: list[str], scratch: Path
) -> tuple[Any, Any]:
    seen: list[Any] = []

    def hook(cell: Any, args: Any, kwargs: Any) -> None:
        seen.append((args, kwargs))
        if len(seen) > part["call"]:
            raise _Found

    handle = _cell(model, part["other_path"]).register_forward_pre_hook(hook, with_kwargs=True)
    tensors, call = mindspore_call.caller(model, whole, order, scratch)
    try:
        call(*tensors.values())
    except _Found:
        pass
    finally:
        handle.remove()
    found: tuple[Any, Any] = seen[part["call"]]
    return found


def _run_part(
    cell: Any,
    call: tuple[Any, Any],
    fed: list[Any],
    slopes: list[Any],
    names: dict[int, str],
    path: str,
) -> dict[str, Any]:
    """Outputs, and gradients of their product with torch's upstream gradient."""
    arrays: dict[str, Any] = {}

    def forward(*tensors: Any) -> Any:
        args, kwargs = refill(call, iter(tensors), mindspore_step.is_tensor)
        output = cell(*args, **kwargs)
        total = mindspore.Tensor(0.0, mindspore.float32)
        found = [tensor for _, tensor in inputs.flatten(output, mindspore_step.is_tensor)]
        for tensor, slope in zip(found, slopes, strict=False):
            if slope is not None and tuple(tensor.shape) == tuple(slope.shape):
                total = total + (tensor.astype(mindspore.float32) * slope).sum()
        return total, output

    trainable = list(cell.trainable_params())
    positions = tuple(i for i, value in enumerate(fed) if value.is_floating_point())
    weights = mindspore.ParameterTuple(trainable) if trainable else None
    if weights is None and not positions:
        _, output = forward(*fed)
        found_inputs, found_weights = (), ()
    else:
        (_, output), found = mindspore.value_and_grad(
            forward, positions or None, weights, has_aux=True
        )(*fed)
        both = bool(positions) and weights is not None
        found_inputs, found_weights = found if both else ((found, ()) if positions else ((), found))
    for way, tensor in inputs.flatten(output, mindspore_step.is_tensor):
        arrays[f"output:{way}"] = to_array(tensor)
    single = mindspore_step.is_tensor(found_inputs)
    for position, slope in zip(positions, [found_inputs] if single else found_inputs, strict=True):
        arrays[f"input-gradient:{position}"] = to_array(slope)
    prefix = f"{path}." if path else ""
    for parameter, slope in zip(trainable, found_weights, strict=True):
        name = names.get(id(parameter), parameter.name)
        arrays[f"gradient:{name.removeprefix(prefix)}"] = to_array(slope)
    return arrays


def _run_statements(
    cell: Any, call: tuple[Any, Any], fed: list[Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What the cell's own code binds, as far as it comes."""
    arrays: dict[str, Any] = {}

    def take(key: str, tensor: Any) -> None:
        arrays[key] = to_array(tensor)

    def version(tensor: Any) -> int:
        return zlib.crc32(tensor.asnumpy().tobytes())

    trace = statements.Trace(mindspore_step.is_tensor, version, take)
    args, kwargs = refill(call, iter(fed), mindspore_step.is_tensor)
    inner = [part for path, part in cell.cells_and_names() if path]
    with suppress(Exception), trace.watching(inner):
        cell(*args, **kwargs)
    return arrays, [one.to_json() for one in trace.bound]


def _in_torch_shapes(
    arrays: dict[str, Any], modules: list[structures.ModuleInfo], parts: list[dict[str, Any]]
) -> dict[str, Any]:
    shapes = {
        f"{module.path}.{local}" if module.path else local: variable.shape
        for module in modules
        for local, variable in module.variables.items()
    }
    shaped = {}
    for key, array in arrays.items():
        index, word, name = key.split(":", 2)
        path = parts[int(index)]["path"]
        shape = shapes.get(f"{path}.{name}" if path else name) if word == "gradient" else None
        shaped[key] = array.reshape(shape) if shape is not None else array
    return shaped
