"""The torch worker: one step in float64 as the truth, several in float32 to measure the noise."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch

from migrate.errors import RequestError
from migrate.parity.judge.metrics import MASK
from migrate.parity.request import inputs, losses, optimizers, plan, target
from migrate.parity.torch_side import follow, precision
from migrate.parity.torch_side import model as torch_model
from migrate.parity.torch_side import step as torch_step
from migrate.parity.torch_side.spilled_tensors import Tensors
from migrate.parity.workers import record
from migrate.parity.workers.spill_dict import Adapted
from migrate.parity.workers.watch import Event
from migrate.parity.workers.worker_main import Progress
from migrate.vision_shim import ensure_torchvision

Tensor: TypeAlias = "torch.Tensor"


class Keep:
    """A sink that keeps a copy of everything."""

    def __init__(self) -> None:
        self.tensors = Tensors()

    def take(self, key: str, tensor: Tensor) -> None:
        self.tensors[key] = tensor


class Measure:
    """A sink that keeps, for each tensor, the largest error seen against the truth."""

    def __init__(self, truth: Mapping[str, Tensor]) -> None:
        self._truth = truth
        self.floors: dict[str, list[float]] = {}

    def take(self, key: str, tensor: Tensor) -> None:
        truth = self._truth.get(key)
        if (
            truth is None
            or truth.shape != tensor.shape
            or not truth.is_floating_point()
            or not truth.numel()
        ):
            return
        error = tensor.to(torch.float64) - truth.to(torch.float64)
        # Where float64's largest number is a mask (torch.finfo), float32's is another.
        error = error.where((truth.abs() < MASK) | (tensor.abs() < MASK), 0.0)
        distance, largest = float(torch.linalg.vector_norm(error)), float(error.abs().max())
        floor = self.floors.setdefault(key, [0.0, 0.0])
        # A NaN in torch's own runs is no floor: leave it out and let the values speak.
        if distance == distance:
            floor[0], floor[1] = max(floor[0], distance), max(floor[1], largest)


def run(job: dict[str, Any], progress: Progress) -> None:
    """Build, write the start that the other side waits for, then run and write the rest."""
    what = plan.from_json(job["plan"])
    folder = Path(job["step"])
    progress.enter("importing the model")
    ensure_torchvision()
    if not what.keep_random:
        torch_model.quiet_functions()
    model, modules = torch_model.build(job["target"], what.seed)
    randomness = torch_model.quiet_layers(model, change=not what.keep_random)
    notes: list[str] = []
    if what.weights:
        torch_model.load_checkpoint(model, what.weights)
    elif what.init == "perturb":
        moved = torch_model.perturb_constants(model, what.seed)
        if moved:
            notes.append(
                f"{moved} constant parameters and statistics were moved off their initial value"
            )
    model.train(what.train)
    state = Tensors(model.state_dict())
    progress.enter("drawing inputs")
    drawn = inputs.draw(what.inputs, what.seed, notes)
    # In the order of forward's parameters, as the other side will take them.
    given = {name: torch.from_numpy(drawn[name]) for name in _order(model, drawn)}
    progress.enter("running the model once, to see its output")
    goal = _draw_target(what, model, given, job)
    torch_model.set_state(model, state)
    setup = _setup(what, model, given, goal, job)
    start: dict[str, Any] = {
        "framework": "torch",
        "framework_version": torch.__version__,
        "python": platform.python_version(),
        "target": job["target"],
        "plan": what.to_json(),
        "structure": [module.to_json() for module in modules],
        "randomness": randomness,
        "order": list(given),
        "notes": notes,
    }
    progress.enter("writing the start")
    _write_start(folder, start, model, given, goal)
    truth, events, floors, extra = _measure(
        what, setup, state, progress, job.get("jitter_offset", 0), job.get("follow", "")
    )
    progress.enter("writing the record")
    info = {
        "mode": "eager",
        "events": [asdict(event) for event in events],
        "floors": floors,
        **extra,
    }
    record.write_part(folder, "run", info, Adapted(truth, lambda _, value: _array(value)))


def _write_start(
    folder: Path,
    start: dict[str, Any],
    model: torch.nn.Module,
    given: dict[str, Tensor],
    goal: Tensor | None,
) -> None:
    """What the other side starts from; a model's tensors are written as they are, not copied."""
    arrays = {f"weight:{name}": _array(value) for name, value in model.state_dict().items()}
    arrays |= {f"input:{name}": _array(value) for name, value in given.items()}
    if goal is not None:
        arrays["target:"] = _array(goal)
    info = {**start, "identity": record.identity(arrays)}
    record.write_part(folder, "start", info, arrays)


def _measure(
    what: plan.Plan,
    setup: torch_step.Setup,
    state: Mapping[str, Tensor],
    progress: Progress,
    offset: int,
    followed: str,
) -> tuple[Mapping[str, Tensor], list[Event], dict[str, list[float]], dict[str, Any]]:
    """The truth and the floor of each tensor; without noise runs, a plain float32 run and no
    floor.
    """

    def once(
        dtype: torch.dtype, sink: torch_step.Sink, jitter: int, lower: bool = False
    ) -> list[Event]:
        torch_model.to_precision(setup.model, dtype)
        torch_model.set_state(setup.model, state)
        if jitter:
            precision.jitter(setup.model, what.seed + jitter, precision.unit(what.amp))
        with precision.default_dtype(dtype):
            if lower:
                return precision.run_lower(setup, what.amp, sink)
            return torch_step.run(setup, dtype, sink)

    truth = Keep()
    notes: list[str] = []
    if not what.noise_runs:
        progress.enter("float32 step")
        events = once(torch.float32, truth, 0, lower=what.amp != "O0")
        return truth.tensors, events, {}, {"reference": "float32", "notes": notes}
    reference = "float64"
    try:
        progress.enter("float64 step")
        events = once(torch.float64, truth, 0)
    except (RuntimeError, TypeError) as error:
        # Code that names float32 cannot run in float64; the plain run is then the truth.
        notes.append(
            f"no float64 reference ({str(error).splitlines()[0]}): float32 runs are compared "
            "with each other"
        )
        reference, truth = "float32", Keep()
        progress.enter("float32 step")
        events = once(torch.float32, truth, 0)
    measure = Measure(truth.tensors)
    for index in range(what.noise_runs):
        progress.enter(f"noise run {index + 1} of {what.noise_runs}")
        once(torch.float32, measure, index + offset, lower=what.amp != "O0")
    if followed:
        progress.enter("a run along MindSpore's activations")
        with follow.along(setup.model, Path(followed)):
            once(torch.float32, measure, 0, lower=what.amp != "O0")
    return truth.tensors, events, measure.floors, {"reference": reference, "notes": notes}


def _setup(
    what: plan.Plan,
    model: torch.nn.Module,
    given: dict[str, Tensor],
    goal: Tensor | None,
    job: dict[str, Any],
) -> torch_step.Setup:
    loss: Callable[[Any, Any], Any]
    if job.get("loss_target"):
        own_loss = target.load(target.parse(job["loss_target"]))
        made = own_loss() if isinstance(own_loss, type) else own_loss
        loss = made
    else:
        name, options = losses.parse(what.loss)
        inner = losses.torch_loss(name, options)
        loss = lambda output, wanted: _apply(inner, name, output, wanted)  # noqa: E731

    def optimizer() -> Any:
        if job.get("optimizer_target"):
            return target.load(target.parse(job["optimizer_target"]))(model)
        chosen, settings = optimizers.parse(what.optimizer)
        trainable = {n: p for n, p in model.named_parameters() if p.requires_grad}
        return (
            optimizers.torch_optimizer(chosen, settings, trainable) if trainable else _NoOptimizer()
        )

    return torch_step.Setup(model, given, goal, loss, optimizer, what.steps, what.layers)


class _NoOptimizer:
    """For a model without parameters."""

    def __init__(self) -> None:
        self.state: dict[Any, Any] = {}

    def zero_grad(self, set_to_none: bool = True) -> None: ...

    def step(self) -> None: ...


def _apply(loss: Callable[[Any, Any], Any], name: str, output: Any, goal: Any) -> Any:
    """A loss by name is taken on the first output; `project` on every float output."""
    found = [tensor for _, tensor in inputs.flatten(output, torch_step.is_tensor)]
    if not found:
        raise RequestError("the model returns no tensor, so there is nothing to take a loss of")
    if name == "project":
        return sum(
            loss(t, goal[: t.numel()].view(t.shape).to(t.dtype))
            for t in found
            if t.is_floating_point()
        )
    return loss(*losses.class_axis(name, found[0], goal))


def _draw_target(
    what: plan.Plan, model: torch.nn.Module, given: dict[str, Tensor], job: dict[str, Any]
) -> Tensor | None:
    """The target's shape follows from the output, so look at one output first."""
    random = np.random.default_rng([what.seed, 104729])
    if what.target is not None:
        return torch.from_numpy(next(iter(inputs.draw([what.target], what.seed + 1).values())))
    with torch.no_grad():
        args, kwargs = inputs.arguments({name: value.clone() for name, value in given.items()})
        output = model(*args, **kwargs)
    found = [tensor for _, tensor in inputs.flatten(output, torch_step.is_tensor)]
    if not found:
        raise RequestError(
            "the model returns no tensor, so there is nothing to compare", where=job["target"]
        )
    kind = losses.KNOWN[losses.parse(what.loss)[0]].target if not job.get("loss_target") else ""
    shape = tuple(found[0].shape)
    if kind == "classes" or (not kind and what.classes):
        classes = what.classes or shape[1 if len(shape) != 3 else -1]
        last = len(shape) > 2 and shape[-1] == classes and shape[1] != classes
        sizes = shape[:-1] if last else (*shape[:1], *shape[2:])
        return torch.from_numpy(random.integers(0, classes, sizes))
    if what.loss.startswith("project"):
        size = max((tensor.numel() for tensor in found if tensor.is_floating_point()), default=0)
        return torch.from_numpy(random.standard_normal(size).astype(np.float32))
    drawn = random.standard_normal(shape)
    if kind == "probability":
        drawn = random.uniform(0.0, 1.0, shape)
    elif kind == "distribution":
        drawn = np.exp(drawn) / np.exp(drawn).sum(axis=-1, keepdims=True)
    elif kind == "sign":
        drawn = np.sign(drawn)
    return torch.from_numpy(drawn.astype(np.float32))


def _order(model: torch.nn.Module, given: dict[str, Any]) -> list[str]:
    """Input names in the order of forward's parameters, for the side whose parameters have other
    names.
    """
    import inspect

    names = list(inspect.signature(model.forward).parameters)

    def place(name: str) -> int:
        top = name.split(".")[0]
        return names.index(top) if top in names else (int(top) if top.isdigit() else 99)

    return sorted(given, key=place)


def _array(value: Tensor) -> Any:
    """As numpy; the truth is rounded to float32, which is what it is compared with."""
    if value.dtype == torch.float64:
        # What is finite stays finite: the largest float64 is a mask, an infinity is not.
        largest = torch.finfo(torch.float32).max
        value = value.where(value.isinf(), value.clamp(-largest, largest))
    if value.dtype in (torch.float64, torch.bfloat16, torch.float16):
        value = value.to(torch.float32)
    return value.detach().cpu().contiguous().numpy()
