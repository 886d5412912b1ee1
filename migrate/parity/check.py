"""The whole check: both sides side by side, the comparison, and the proof of who is to blame."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrate.parity.judge import compare, isolate, localize
from migrate.parity.judge.compare import Comparison
from migrate.parity.judge.diagnose import (
    Diagnosis,
    compare_calls,
    diagnose,
    point_at_functions,
)
from migrate.parity.judge.tolerance import Tolerance
from migrate.parity.request.loading import Loading
from migrate.parity.request.plan import Plan
from migrate.parity.workers import record, worker

SECOND_LOOK_RUNS = 24


@dataclass(frozen=True)
class Request:
    """What to check, and with what."""

    torch: str
    mindspore: str
    plan: Plan
    modes: tuple[str, ...] = ("pynative", "graph")
    tolerance: Tolerance = field(default_factory=Tolerance)
    device: str = "CPU"
    torch_python: str = ""
    ms_python: str = ""
    timeout: float = 1800.0
    renames: dict[str, str] = field(default_factory=dict)
    torch_loss: str = ""
    ms_loss: str = ""
    torch_optimizer: str = ""
    ms_optimizer: str = ""
    torch_loading: Loading = field(default_factory=Loading)
    ms_loading: Loading = field(default_factory=Loading)
    second_look: bool = True  # measure the noise again where nobody is guilty


@dataclass
class Side:
    """What a worker cost."""

    name: str
    seconds: float
    peak_bytes: int


@dataclass
class Report:
    """The outcome, ready to be shown."""

    torch: str
    mindspore: str
    plan: dict[str, Any]
    versions: dict[str, str]
    comparisons: list[Comparison]
    failures: dict[str, str]
    diagnosis: Diagnosis | None
    tolerance: Tolerance
    sides: list[Side]
    seconds: float

    @property
    def exit_code(self) -> int:
        if any(not c.ok and (c.first_stage or c.error is None) for c in self.comparisons):
            return 1
        if self.failures or any(c.error is not None for c in self.comparisons):
            return 2
        return 0


Tell = Callable[[str], None]


# Told which sides still run, to show how far they are.
Show = Callable[[Mapping[str, worker.Worker]], None]
Follow = Callable[[Mapping[str, worker.Worker]], AbstractContextManager[Show]]


def unseen(sides: Mapping[str, worker.Worker]) -> AbstractContextManager[Show]:
    return nullcontext(lambda waiting: None)


def run(request: Request, folder: Path, tell: Tell, follow: Follow = unseen) -> Report:
    """Run both sides, compare, localise."""
    began = time.monotonic()
    workers, failures = _run_sides(request, folder, tell, follow)
    torch = record.read_step(folder / "torch")
    if "graph" in failures:
        failures["graph"] = "\n".join([failures["graph"], *compare.graph_advice(torch)])
    comparisons = [
        compare.compare(torch, record.read_step(folder / mode), request.tolerance)
        for mode in request.modes
        if mode not in failures
    ]
    diagnosis, comparisons = explain(request, folder, comparisons, tell)
    return Report(
        request.torch,
        request.mindspore,
        torch.start["plan"],
        versions(folder, request.modes),
        comparisons,
        failures,
        diagnosis,
        request.tolerance,
        [Side(w.name, w.seconds, w.peak_bytes) for w in workers],
        time.monotonic() - began,
    )


def versions(folder: Path, modes: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for name in ("torch", *modes):
        if (folder / name / "start.json").is_file():
            start = record.read_info(folder / name, "start")
            found[start["framework"]] = start["framework_version"]
            found["python"] = start["python"]
    return found


def _in_isolation(
    request: Request, folder: Path, suspects: list[localize.Suspect], bad: Comparison, tell: Tell
) -> list[isolate.Result]:
    """What the suspects do when they are fed torch's own tensors."""
    if not suspects or not request.torch or not request.mindspore:
        return []
    tell(f"running {len(suspects)} layer{'s' if len(suspects) > 1 else ''} alone, to confirm")
    try:
        return isolate.run(
            suspects,
            folder,
            mindspore_target=request.mindspore,
            device=request.device,
            tolerance=request.tolerance,
            renames=request.renames,
            pythons=(request.torch_python, request.ms_python),
            loadings=(request.torch_loading, request.ms_loading),
            timeout=request.timeout,
        )
    except worker.WorkerError as error:
        # The finding stands without its proof.
        bad.notes.append(f"the layers in question could not be run alone: {error.reason}")
        return []


def _may_be_noise(request: Request, bad: Comparison, results: list[isolate.Result]) -> bool:
    """Whether the noise is worth another measurement."""
    # A container that is wrong backward only, while its parts are innocent, may hold a kink.
    if any(
        result.guilty and not (result.suspect.own_code and result.suspect.direction == "backward")
        for result in results
    ):
        return False
    # What differs before the gradients needs a suspect; a kink shows in gradients alone.
    doubtful = bool(results) or bad.first_stage in ("gradients", "curve")
    measurable = bool(request.torch) and not request.tolerance.fixed and not bad.error
    return doubtful and measurable and request.second_look


def explain(
    request: Request, folder: Path, comparisons: list[Comparison], tell: Tell
) -> tuple[Diagnosis | None, list[Comparison]]:
    """Find the culprit; if nobody confesses in isolation, measure the noise again, longer, and
    judge once more.
    """
    bad = next((c for c in comparisons if not c.ok), None)
    if bad is None:
        return None, comparisons
    # The layers are watched in PyNative, whichever mode it was that differed.
    watched = next((c for c in comparisons if c.layers), bad)
    suspects = localize.forward_suspects(watched) or localize.backward_suspects(watched)
    results = _in_isolation(request, folder, suspects, bad, tell)
    if _may_be_noise(request, bad, results):
        tell("each layer agrees when run alone: measuring the noise again, with more runs")
        comparisons, explained = _second_look(request, folder, comparisons)
        bad = next((c for c in comparisons if not c.ok), None)
        if bad is None:
            for comparison in comparisons:
                comparison.notes.append(
                    f"a first floor of {request.plan.noise_runs} runs was too low; {explained} the "
                    "differences"
                )
            return None, comparisons
    found = diagnose(bad, watched, suspects, results)
    if request.torch and request.mindspore:
        compare_calls(found, request.torch, request.mindspore)
    if found.kind == "loss" and request.torch_loss:
        point_at_functions(found, request.torch_loss, request.ms_loss)
    elif found.kind == "optimizer" and request.torch_optimizer:
        point_at_functions(found, request.torch_optimizer, request.ms_optimizer)
    return found, comparisons


def _second_look(
    request: Request, folder: Path, comparisons: list[Comparison]
) -> tuple[list[Comparison], str]:
    """Judge by a floor measured anew. The run that goes MindSpore's own way explains most kinks,
    so it comes before the many that find them by chance.
    """
    along = _followed(folder, comparisons)
    torch = record.read_step(folder / "torch")
    if along:
        found = _measured_again(request, folder, comparisons, torch, runs=1, along=along)
        if all(comparison.ok for comparison in found):
            return found, "one along MindSpore's own activations explains"
    found = _measured_again(request, folder, comparisons, torch, runs=SECOND_LOOK_RUNS, along="")
    together = ", with one along MindSpore's own activations," if along else ""
    return found, f"{SECOND_LOOK_RUNS} more{together} explain"


def _measured_again(
    request: Request,
    folder: Path,
    comparisons: list[Comparison],
    torch: record.Step,
    *,
    runs: int,
    along: str,
) -> list[Comparison]:
    """Raise the record's floors by more runs, and compare by them."""
    again = folder / "torch-again"
    longer = {**request.plan.to_json(), "noise_runs": runs}
    job = {**torch_job(request, again), "plan": longer, "jitter_offset": 1000, "follow": along}
    worker.finish(
        [
            worker.start(
                "torch",
                job,
                folder / "work-again",
                python=request.torch_python,
                timeout=request.timeout,
            )
        ]
    )
    floors = record.read_info(again, "run")["floors"]
    first: dict[str, list[float]] = torch.run["floors"]
    for key, floor in floors.items():
        first[key] = [max(a, b) for a, b in zip(first.get(key, [0.0, 0.0]), floor, strict=True)]
    return [
        compare.compare(torch, record.read_step(folder / comparison.mode), request.tolerance)
        for comparison in comparisons
    ]


def _followed(folder: Path, comparisons: list[Comparison]) -> str:
    """The record whose activations torch may be led along: one in which all outputs agree."""
    eager = folder / "pynative"
    forward = ("weights", "inputs", "layers", "outputs", "loss")
    if any(comparison.failed(stage) for comparison in comparisons for stage in forward):
        return ""
    if not (eager / "run.json").is_file():
        return ""
    start = record.read_info(folder / "torch", "start")
    same = record.read_info(eager, "start")["identity"] == start["identity"]
    watched = bool(record.read_info(eager, "run")["events"])
    return str(eager) if same and watched else ""


def torch_job(request: Request, step: Path) -> dict[str, Any]:
    return {
        "action": "torch-step",
        "target": request.torch,
        "plan": request.plan.to_json(),
        "step": str(step),
        "loss_target": request.torch_loss,
        "optimizer_target": request.torch_optimizer,
        "jitter_offset": 0,
        "loading": request.torch_loading.to_json(),
    }


def mindspore_job(
    request: Request, mode: str, step: Path, reference: Path, *, wait: bool
) -> dict[str, Any]:
    return {
        "action": "mindspore-step",
        "target": request.mindspore,
        "seed": request.plan.seed,
        "mode": mode,
        "device": request.device,
        "reference": str(reference),
        "wait": wait,
        "changes": {},
        "renames": request.renames,
        "step": str(step),
        "loss_target": request.ms_loss,
        "optimizer_target": request.ms_optimizer,
        "loading": request.ms_loading.to_json(),
    }


def _run_sides(
    request: Request, folder: Path, tell: Tell, follow: Follow
) -> tuple[list[worker.Worker], dict[str, str]]:
    """Run both frameworks at once; MindSpore waits for torch's weights when its model is built.

    A torch record that is there already is used as it is.
    """
    tell(f"running torch and MindSpore ({' and '.join(request.modes)})")
    workers: dict[str, worker.Worker] = {}
    failures: dict[str, str] = {}
    try:
        if not (folder / "torch" / "run.json").is_file():
            job = torch_job(request, folder / "torch")
            workers["torch"] = _start(request, "torch", job, folder)
        for mode in request.modes:
            job = mindspore_job(request, mode, folder / mode, folder / "torch", wait=True)
            workers[mode] = _start(request, mode, job, folder)
        with follow(workers) as show:
            waiting = dict(workers)
            untold: list[str] = []
            while waiting:
                for name in list(waiting):
                    if reason := _ended(name, waiting, failures):
                        untold.append(f"{name} mode could not run: {reason}")
                # What ends torch's side ends all, and is said once.
                while untold and "torch" not in waiting:
                    tell(untold.pop(0))
                show(waiting)
                time.sleep(0.02)
    finally:
        for side in workers.values():
            side.stop()
    return list(workers.values()), {m: failures[m] for m in request.modes if m in failures}


def _ended(name: str, waiting: dict[str, worker.Worker], failures: dict[str, str]) -> str:
    """Take a side that has ended off the list, and say why it failed, if it did; a failure of
    torch's ends all.
    """
    side = waiting[name]
    try:
        if side.poll():
            del waiting[name]
            side.check()
    except worker.WorkerError as error:
        waiting.pop(name, None)
        if name == "torch":
            raise
        failures[name] = str(error)
        return error.reason
    return ""


def _start(request: Request, name: str, job: dict[str, Any], folder: Path) -> worker.Worker:
    return worker.start(
        "torch" if name == "torch" else f"MindSpore ({name})",
        job,
        folder / f"work-{name}",
        python=request.torch_python if name == "torch" else request.ms_python,
        timeout=request.timeout,
    )
