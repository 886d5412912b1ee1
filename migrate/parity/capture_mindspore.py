"""The MindSpore worker: torch's weights and inputs, the same step, in PyNative or as a graph."""

from __future__ import annotations

import inspect
import os
import platform
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import mindspore
from mindspore import nn

from migrate.errors import RequestError
from migrate.parity import (
    inputs,
    losses,
    matching,
    mindspore_model,
    mindspore_step,
    optimizers,
    plan,
    record,
    target,
)
from migrate.parity import structure as structures
from migrate.parity.worker_main import Progress

LOSS_SCALE = 1024.0


def run(job: dict[str, Any], progress: Progress) -> None:
    """Build, wait for torch's start, match, run, and write the record."""
    folder = Path(job["step"])
    progress.enter("importing the model")
    prepare(job["device"], job["mode"], str(folder))
    mindspore_model.quiet_functions()
    model, modules = mindspore_model.build(job["target"], job["seed"])
    progress.enter("waiting for torch's weights and inputs")
    reference = Path(job["reference"])
    while job["wait"] and not (reference / "start.json").is_file():
        time.sleep(0.02)
    start, given = record.read_start(reference)
    what = plan.from_json({**start["plan"], **job["changes"]})
    randomness = mindspore_model.quiet_layers(model, change=not what.keep_random)
    progress.enter("matching parameters")
    torch_modules = [structures.from_json(module) for module in start["structure"]]
    matched = matching.match(torch_modules, modules, job["renames"])
    info: dict[str, Any] = {
        "framework": "mindspore",
        "framework_version": mindspore.__version__,
        "python": platform.python_version(),
        "target": job["target"],
        "plan": what.to_json(),
        "structure": [module.to_json() for module in modules],
        "randomness": randomness,
        "matching": asdict(matched),
        "identity": start["identity"],
        "notes": [],
    }
    record.write_part(folder, "start", info, {})
    if matched.unmatched_torch or matched.unmatched_mindspore:
        record.write_part(
            folder, "run", {"mode": job["mode"], "events": [], "entered": [], "notes": []}, {}
        )
        return
    mindspore_model.load_weights(model, matched, given)
    model.set_train(what.train)
    setup = _setup(what, job, model, matched, given, start)
    result = mindspore_step.run(setup, compiled=job["mode"] == "graph", enter=progress.enter)
    progress.enter("writing the record")
    arrays = _in_torch_shapes(result.arrays, torch_modules)
    run_info = {
        "mode": job["mode"],
        "events": [asdict(event) for event in result.events],
        "entered": [asdict(event) for event in result.entered],
        "notes": [],
    }
    if result.error is not None:
        run_info["error"] = describe_error(result.error)
    record.write_part(folder, "run", run_info, arrays)


def prepare(device: str, mode: str, scratch: str = "") -> None:
    """Set the context; blocking launches make an operator's error appear where it happens."""
    mindspore.set_context(mode=mindspore.GRAPH_MODE if mode == "graph" else mindspore.PYNATIVE_MODE)
    try:
        mindspore.set_device(device)
    except (RuntimeError, ValueError) as error:
        raise RequestError(
            f"MindSpore cannot use the device {device} here ({str(error).splitlines()[0]})",
            next_step="choose another with --device",
        ) from error
    mindspore.runtime.launch_blocking()
    if scratch:
        # What the compiler writes when it fails belongs to the run, not into the user's folder.
        mindspore.set_context(save_graphs_path=scratch)


def _setup(
    what: plan.Plan,
    job: dict[str, Any],
    model: nn.Cell,
    matched: matching.Matching,
    given: record.Tensors,
    start: dict[str, Any],
) -> mindspore_step.Setup:
    own = mindspore_model.variables(model)
    names: dict[int, str] = {}
    for pair in matched.pairs:
        names.setdefault(id(own[pair.mindspore]), pair.torch)
    by_name = {names[id(p)]: p for p in model.trainable_params()}
    goal = mindspore.Tensor(given["target:"]) if "target:" in given else None
    optimizer: Any = None
    prepared: Callable[[Any], Any] = _same
    if job.get("optimizer_target"):
        optimizer = target.load(target.parse(job["optimizer_target"]))(model)
    elif by_name:
        chosen, settings = optimizers.parse(what.optimizer)
        ordered = {
            pair.torch: by_name[pair.torch] for pair in matched.pairs if pair.torch in by_name
        }
        optimizer, prepared = optimizers.mindspore_optimizer(chosen, settings, ordered)
    network: Any = model
    scale = 1.0
    if what.amp != "O0":
        network = _mixed(model, what.amp, job["step"])
        network.set_train(what.train)
        scale = LOSS_SCALE
    arrays = {n.removeprefix("input:"): given[n] for n in given.names() if n.startswith("input:")}
    flat, call = caller(network, arrays, start["order"])
    return mindspore_step.Setup(
        model,
        flat,
        call,
        _loss(what, job, goal),
        optimizer,
        prepared,
        what.steps,
        what.layers,
        names,
        scale,
    )


def _mixed(model: nn.Cell, level: str, scratch: str) -> Any:
    """Mixed precision; O1 writes a rewritten network into the current folder, so make that ours."""
    before = os.getcwd()
    os.chdir(scratch)
    try:
        return mindspore.amp.auto_mixed_precision(model, level)
    finally:
        os.chdir(before)


def _same(gradients: Any) -> Any:
    return gradients


def caller(
    model: nn.Cell, arrays: dict[str, Any], order: list[str]
) -> tuple[dict[str, Any], Callable[..., Any]]:
    """The tensors by name in torch's argument order, and how to call the cell with them."""
    names = sorted(arrays, key=lambda name: order.index(name.split(".")[0]))
    tensors = {name: mindspore.Tensor(arrays[name]) for name in names}
    parameters = list(inspect.signature(model.construct).parameters)
    moved = any(
        name in parameters and parameters.index(name) != index for index, name in enumerate(names)
    )
    if not moved and all("." not in name for name in names):

        def by_position(*given: Any) -> Any:
            return model(*given)

        return tensors, by_position

    def by_name(*given: Any) -> Any:
        args, kwargs = inputs.arguments(dict(zip(names, given, strict=True)))
        return model(*args, **kwargs)

    return tensors, by_name


def _loss(what: plan.Plan, job: dict[str, Any], goal: Any) -> Callable[[Any], Any]:
    """The loss of an output; written without lambdas, which the graph compiler does not take."""
    if job.get("loss_target"):
        own = target.load(target.parse(job["loss_target"]))
        function = own() if isinstance(own, type) else own

        def by_user(output: Any) -> Any:
            return function(output, goal)

        return by_user
    name, options = losses.parse(what.loss)
    inner = losses.mindspore_loss(name, options)

    def project(output: Any) -> Any:
        total = 0.0
        for tensor in tensors_of(output):
            if is_float(tensor):
                flat = tensor.astype(mindspore.float32).reshape(-1)
                total = total + (flat * goal[: flat.shape[0]]).mean()
        return total

    def on_first(output: Any) -> Any:
        logits, wanted = losses.class_axis(
            name, tensors_of(output)[0].astype(mindspore.float32), goal
        )
        return inner(logits, wanted)

    return project if name == "project" else on_first


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


def is_float(tensor: Any) -> bool:
    return tensor.dtype in (
        mindspore.float16,
        mindspore.float32,
        mindspore.float64,
        mindspore.bfloat16,
    )


def _in_torch_shapes(
    arrays: dict[str, Any], modules: list[structures.ModuleInfo]
) -> dict[str, Any]:
    """Give parameters the shapes torch gives them, so that they can be compared element by
    element.
    """
    shapes = {
        f"{module.path}.{local}" if module.path else local: variable.shape
        for module in modules
        for local, variable in module.variables.items()
    }
    reshaped = {}
    for key, array in arrays.items():
        name = key.rpartition(":")[2]
        known = (
            not key.startswith(("value:", "slope:", "output:", "input-gradient:"))
            and name in shapes
        )
        reshaped[key] = array.reshape(shapes[name]) if known and array.size else array
    return reshaped


def describe_error(error: BaseException) -> dict[str, str]:
    """An error inside the model, with the innermost line of user code that led to it."""
    inside = ("/mindspore/", "/migrate/parity/")
    lines = [
        f"{frame.filename}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if not any(part in frame.filename for part in inside) and not frame.filename.startswith("<")
    ]
    text = [line for line in str(error).splitlines() if line.strip() and not line.startswith("-")]
    return {
        "what": f"{type(error).__name__}: {' '.join(text[:3])[:600]}",
        "where": lines[-1] if lines else "",
        "trace": "".join(traceback.format_exception(error))[-6000:],
    }
