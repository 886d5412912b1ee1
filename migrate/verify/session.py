"""One case in one process: write its trials as a program, port it, run every trial, note each."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from migrate.verify import dry_run, operators
from migrate.verify.errors import RAISES, VARIANT, run_error
from migrate.verify.execute import TorchFails, run_trial
from migrate.verify.porting import port_text, runs_in_graph
from migrate.verify.program import Trial

Note = Callable[[dict[str, Any]], None]


class Renew(Exception):
    """The rest wants a new process: a kernel that failed may fail the next, innocent call."""


def run_case(key: str, folder: Path, start: int, note: Note) -> None:
    """Run the trials from `start` on; each is noted before it runs, so that a crash has a name."""
    import mindspore
    import torch

    torch.set_num_threads(1)
    if dry_run.active():
        dry_run.select_device()
    # An operator's asynchronous error would otherwise surface on a later, innocent one.
    mindspore.runtime.launch_blocking()
    if dry_run.active():
        from migrate.verify import dry_batch

        dry_batch.run_batch(key, folder, start, note)
        return
    if not key.startswith(operators.PREFIX):
        from migrate.verify import parts

        parts.run_case(key, folder, start, note)
        return
    run_trials(operators.trials_of(key), folder, start, note)


def run_trials(trials: list[Trial], folder: Path, start: int, note: Note) -> None:
    names = [f"sample_{place}" for place in range(len(trials))]
    text = "import torch\n\n\n" + "\n\n".join(
        trial.source(name) for trial, name in zip(trials, names, strict=True) if trial.text
    )
    both = ported_programs(text, folder)
    note({"trials": len(trials)})
    for place, (trial, name) in enumerate(zip(trials, names, strict=True)):
        if place < start:
            continue
        trial.graph &= runs_in_graph(trial.api)
        record: dict[str, Any] = {"place": place, "api": trial.api, "variant": trial.variant}
        record["dtype"] = trial.dtype
        if edge := at_the_edge(trial.inputs):
            record["edge"] = edge
        note({**record, "begins": True})
        outcome: dict[str, str]
        if not trial.text:
            outcome = {"skipped": trial.variant}
            record["variant"] = "function"
        elif (stopped := both.refusal(name)) is not None:
            outcome = stopped
            record["by_porter"] = True
        else:
            try:
                theirs, ours = getattr(both.theirs, name), getattr(both.ours, name)
                if dry_run.active():
                    outcome = dry_run.run_trial(trial, ours, reaching(note))
                elif trial.variant == VARIANT:
                    outcome = run_error(trial, theirs, ours)
                else:
                    outcome = run_trial(trial, theirs, ours, reaching(note))
            except TorchFails as reason:
                outcome = {"skipped": str(reason)[:200]}
        if trial.random:
            record["random"] = True
        good = ("agrees", "accepted", RAISES)
        bad = any(not text.startswith(good) for text in outcome.values())
        if bad and trial.text:
            record["call"] = trial.text.strip().splitlines()[-1].strip()
        note({**record, **outcome})
        renew(record, outcome, place + 1 < len(trials), note)


def renew(record: dict[str, Any], outcome: dict[str, str], more: bool, note: Note) -> None:
    """Leave this process if the trials that follow might suffer from the last."""
    if more and "by_porter" not in record and _spoiled(outcome):
        note({"renew": True})
        raise Renew


def _spoiled(outcome: dict[str, str]) -> bool:
    """What runs next in this process may fail because of this."""
    if dry_run.active():
        return "skipped" not in outcome and not all(map(dry_run.harmless, outcome.values()))
    return any("RuntimeError" in text for text in outcome.values())


def at_the_edge(inputs: list[Any]) -> str:
    """Inputs without elements, or without dimensions: torch computes, many kernels refuse."""
    if any(value.numel() == 0 for value in inputs):
        return "empty"
    return "single number" if inputs and inputs[0].dim() == 0 else ""


def without_batch(api: str, inputs: list[Any]) -> str:
    """Layers over N axes take channels, too, and torch lets the batch be left out."""
    axes = re.search(r"([123])d$", api)
    lacks = axes and inputs and inputs[0].dim() == int(axes[1]) + 1
    return "batches only" if lacks else ""


@dataclass(slots=True)
class Both:
    """The same program in both frameworks."""

    theirs: Any
    ours: Any
    refused: dict[str, str]
    broken: str = ""

    def refusal(self, name: str) -> dict[str, str] | None:
        """Why a definition has no MindSpore form to run."""
        if name in self.refused:
            return {"forward": f"refused: {self.refused[name]}"}
        return {"forward": self.broken} if self.broken else None


def ported_programs(text: str, folder: Path) -> Both:
    """Write, port and import a program."""
    ported = port_text(text, folder)
    theirs = load(folder / "torch_program.py", "torch_program")
    if ported.helpers:
        (folder / "ms_migrate_helpers.py").write_text(ported.helpers, encoding="utf-8")
    (folder / "mindspore_program.py").write_text(ported.text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        ours = load(folder / "mindspore_program.py", "mindspore_program")
    except Exception as error:
        broken = f"fails: the ported program does not import: {type(error).__name__}: {error}"
        return Both(theirs, None, ported.refused, broken)
    return Both(theirs, ours, ported.refused)


def reaching(note: Note) -> Callable[[str, dict[str, str]], None]:
    """Note each stage before it begins."""
    return lambda stage, outcome: note({"stage": stage, **outcome})


def load(path: Path, name: str) -> Any:
    """Import a file under a name; the graph compiler reads sources, so it must be a real file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def noting(path: Path) -> Note:
    """Append one line of JSON a note, flushed at once: the process may die at any moment."""
    stream = path.open("a", encoding="utf-8")

    def note(record: dict[str, Any]) -> None:
        stream.write(json.dumps(record) + "\n")
        stream.flush()

    return note
