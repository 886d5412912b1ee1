"""The MindSpore worker: torch's weights and inputs, the same step, in PyNative or as a graph."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import mindspore
from mindspore import nn

from migrate.errors import RequestError
from migrate.parity.judge import matching
from migrate.parity.mindspore_side import amp as mindspore_amp
from migrate.parity.mindspore_side import call as mindspore_call
from migrate.parity.mindspore_side import errors as mindspore_errors
from migrate.parity.mindspore_side import model as mindspore_model
from migrate.parity.mindspore_side import step as mindspore_step
from migrate.parity.request import losses, optimizers, plan, target
from migrate.parity.workers import record
from migrate.parity.workers import structure as structures
from migrate.parity.workers.spill_dict import Adapted
from migrate.parity.workers.worker_main import Progress

LOSS_SCALE = 1024.0
# Both sides at once need some 30 bytes of memory for each parameter, and as much as a thousand for
# each number of an input. From this many on, one side waits for the other.
LARGE = {"weight": 100_000_000, "input": 2_000_000}


def run(job: dict[str, Any], progress: Progress) -> None:
    """Build, wait for torch's start, match, run, and write the record."""
    folder = Path(job["step"])
    progress.enter("importing the model")
    prepare(job["device"], job["mode"], str(progress.folder))
    mindspore_model.quiet_functions()
    model, modules = mindspore_model.build(job["target"], job["seed"])
    progress.enter("waiting for torch's weights and inputs")
    reference = Path(job["reference"])
    while job["wait"] and not (reference / "start.json").is_file():
        time.sleep(0.02)
    start, given = record.read_start(reference)
    if job["wait"] and _is_large(given):
        progress.enter("waiting for torch's step, to share memory in turn")
        while not (reference / "run.json").is_file():
            time.sleep(0.02)
    what = plan.from_json({**start["plan"], **job["changes"]})
    randomness = mindspore_model.quiet_layers(model, change=not what.keep_random)
    progress.enter("matching parameters")
    torch_modules = [structures.from_json(module) for module in start["structure"]]
    unknown = matching.unknown_names(torch_modules, modules, job["renames"])
    if unknown:
        raise RequestError(f"--map names parameters that do not exist: {', '.join(unknown)}")
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
    result, notes = _run(what, job, model, matched, given, start, progress)
    progress.enter("writing the record")
    arrays = _in_torch_shapes(result.arrays, torch_modules)
    run_info = {
        "mode": job["mode"],
        "events": [asdict(event) for event in result.events],
        "entered": [asdict(event) for event in result.entered],
        "notes": notes,
    }
    if result.error is not None:
        run_info["error"] = mindspore_errors.describe(result.error)
    record.write_part(folder, "run", run_info, arrays)


def _is_large(given: record.Tensors) -> bool:
    counted = dict.fromkeys(LARGE, 0)
    for name in given.names():
        word = name.partition(":")[0]
        if word in counted:
            counted[word] += given.count(name)
    return any(counted[word] > limit for word, limit in LARGE.items())


def prepare(device: str, mode: str, scratch: str = "") -> None:
    """Set the context; blocking launches make an operator's error appear where it happens."""
    os.environ["MS_MIGRATE_MODE"] = mode  # what is asked for here, not what the helpers choose
    mindspore.set_context(mode=mindspore.GRAPH_MODE if mode == "graph" else mindspore.PYNATIVE_MODE)
    try:
        mindspore.set_device(device)
    except (RuntimeError, ValueError) as error:
        raise RequestError(
            f"MindSpore cannot use the device {device} here ({str(error).splitlines()[0]})",
            next_step="choose another with --device",
        ) from error
    if device == "Ascend":
        # Three digits less than float32 by default: parity would take that for a fault.
        precision = mindspore.device_context.ascend.op_precision
        precision.conv_allow_hf32(False)
        precision.matmul_allow_hf32(False)
    mindspore.runtime.launch_blocking()
    if scratch:
        # What the compiler writes when it fails belongs to the run, not into the user's folder.
        mindspore.set_context(save_graphs_path=scratch)


def _run(
    what: plan.Plan,
    job: dict[str, Any],
    model: nn.Cell,
    matched: matching.Matching,
    given: record.Tensors,
    start: dict[str, Any],
    progress: Progress,
) -> tuple[mindspore_step.Result, list[str]]:
    """Take the step. At O1 MindSpore rewrites the model's source and fails on some layers; the
    cells of its own list are then cast one by one, and a note names the layer.
    """
    ways = ("rewritten", "by cells") if what.amp == "O1" else ("",)
    notes: list[str] = []
    result = mindspore_step.Result({}, [], [])
    for way in ways:
        if notes:
            # A rewrite that fails half way leaves a changed model behind.
            model, _ = mindspore_model.build(job["target"], job["seed"])
            mindspore_model.quiet_layers(model, change=not what.keep_random)
        mindspore_model.load_weights(model, matched, given)
        model.set_train(what.train)
        try:
            setup = _setup(what, job, model, matched, given, start, way, progress.folder)
        except mindspore_amp.RewriteError as error:
            notes.append(str(error))
            continue
        result = mindspore_step.run(setup, compiled=job["mode"] == "graph", enter=progress.enter)
        failed = mindspore_amp.failure(result.error, result.entered, model) if way else ""
        if not failed or way == ways[-1]:
            break
        notes.append(failed)
    return result, [*notes, *result.notes]


def _setup(
    what: plan.Plan,
    job: dict[str, Any],
    model: nn.Cell,
    matched: matching.Matching,
    given: record.Tensors,
    start: dict[str, Any],
    way: str,
    scratch: Path,
) -> mindspore_step.Setup:
    own = mindspore_model.variables(model)
    names: dict[int, str] = {}
    for pair in matched.pairs:
        names.setdefault(id(own[pair.mindspore]), pair.torch)
    by_name = {names[id(p)]: p for p in model.trainable_params()}
    goal = mindspore.Tensor(given["target:"]) if "target:" in given else None
    optimizer: Any = None
    if job.get("optimizer_target"):
        optimizer = target.load(target.parse(job["optimizer_target"]))(model)
    elif by_name:
        chosen, settings = optimizers.parse(what.optimizer)
        ordered = {
            pair.torch: by_name[pair.torch] for pair in matched.pairs if pair.torch in by_name
        }
        optimizer = optimizers.mindspore_optimizer(chosen, settings, ordered)
    network: Any = model
    scale = 1.0
    if what.amp != "O0":
        network = mindspore_amp.lower(model, what.amp, way, scratch)
        network.set_train(what.train)
        scale = LOSS_SCALE
    arrays = {n.removeprefix("input:"): given[n] for n in given.names() if n.startswith("input:")}
    flat, call = mindspore_call.caller(network, arrays, start["order"], scratch)
    return mindspore_step.Setup(
        model,
        flat,
        call,
        _loss(what, job, goal),
        optimizer,
        what.steps,
        what.layers,
        names,
        scale,
        repeat=not what.keep_random,
    )


def _loss(what: plan.Plan, job: dict[str, Any], goal: Any) -> Callable[[Any, Any], Any]:
    """The loss of an output and the tensors in it; written without lambdas, which the graph
    compiler does not take.
    """
    if job.get("loss_target"):
        own = target.load(target.parse(job["loss_target"]))
        function = own() if isinstance(own, type) else own

        def by_user(output: Any, tensors: Any) -> Any:
            return function(output, goal)

        return by_user
    name, options = losses.parse(what.loss)
    inner = losses.mindspore_loss(name, options)

    def project(output: Any, tensors: Any) -> Any:
        total = 0.0
        for tensor in tensors:
            if is_float(tensor):
                flat = tensor.astype(mindspore.float32).reshape(-1)
                total = total + (flat * goal[: flat.shape[0]]).mean()
        return total

    def on_first(output: Any, tensors: Any) -> Any:
        logits, wanted = losses.class_axis(name, tensors[0].astype(mindspore.float32), goal)
        return inner(logits, wanted)

    return project if name == "project" else on_first


def is_float(tensor: Any) -> bool:
    return tensor.dtype in (
        mindspore.float16,
        mindspore.float32,
        mindspore.float64,
        mindspore.bfloat16,
    )


def _in_torch_shapes(
    arrays: Mapping[str, Any], modules: list[structures.ModuleInfo]
) -> Mapping[str, Any]:
    """Give parameters the shapes torch gives them, so that they can be compared element by
    element.
    """
    shapes = {
        f"{module.path}.{local}" if module.path else local: variable.shape
        for module in modules
        for local, variable in module.variables.items()
    }

    def as_in_torch(key: str, array: Any) -> Any:
        name = key.rpartition(":")[2]
        known = (
            not key.startswith(("value:", "slope:", "output:", "input-gradient:"))
            and name in shapes
        )
        return array.reshape(shapes[name]) if known and array.size else array

    return Adapted(arrays, as_in_torch)
