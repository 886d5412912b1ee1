"""Prove a suspicion: run the suspect alone on both sides, fed torch's input and torch's upstream
gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrate.parity.judge import statements
from migrate.parity.judge.localize import Suspect
from migrate.parity.judge.tolerance import Judgement, Tolerance, judge
from migrate.parity.request.loading import Loading
from migrate.parity.workers import record, worker
from migrate.parity.workers.statements import from_json


@dataclass
class Result:
    """What a suspect did alone."""

    suspect: Suspect
    judgements: dict[str, Judgement] = field(default_factory=dict)
    error: dict[str, str] | None = None
    # The statement of its own code at which the values part.
    parting: statements.Parting | None = None

    @property
    def guilty(self) -> bool:
        return self.error is not None or bool(self.wrong)

    @property
    def wrong(self) -> list[str]:
        return [name for name, judgement in self.judgements.items() if not judgement.ok]

    @property
    def outputs_agree(self) -> bool:
        return all(j.ok for name, j in self.judgements.items() if name.startswith("output"))


def run(
    suspects: list[Suspect],
    folder: Path,
    *,
    mindspore_target: str,
    device: str,
    tolerance: Tolerance,
    renames: dict[str, str],
    pythons: tuple[str, str],
    loadings: tuple[Loading, Loading],
    timeout: float,
) -> list[Result]:
    """Run all suspects in one pair of fresh workers, each from freshly loaded weights."""
    parts = [
        {
            "path": suspect.layer.path,
            "other_path": suspect.layer.other_path,
            "call": suspect.layer.call,
            "inputs": suspect.layer.torch_inputs,
            "outputs": suspect.layer.torch_outputs,
            "statements": suspect.own_code and suspect.direction == "forward",
        }
        for suspect in suspects
    ]
    torch_folder, other_folder = folder / "parts-torch", folder / "parts-mindspore"
    common: dict[str, Any] = {"reference": str(folder / "torch"), "parts": parts}
    torch_job = {"action": "torch-parts", "step": str(torch_folder), **common}
    torch_job["loading"] = loadings[0].to_json()
    other_job = {
        "action": "mindspore-parts",
        "step": str(other_folder),
        "target": mindspore_target,
        "device": device,
        "renames": renames,
        "loading": loadings[1].to_json(),
        **common,
    }
    worker.finish(
        [
            worker.start(
                "torch", torch_job, folder / "work-parts-torch", python=pythons[0], timeout=timeout
            ),
            worker.start(
                "MindSpore",
                other_job,
                folder / "work-parts-mindspore",
                python=pythons[1],
                timeout=timeout,
            ),
        ]
    )
    return [
        _result(i, suspect, torch_folder, other_folder, tolerance)
        for i, suspect in enumerate(suspects)
    ]


def _result(
    index: int, suspect: Suspect, torch_folder: Path, other_folder: Path, tolerance: Tolerance
) -> Result:
    ours, theirs = record.read_info(torch_folder, "run"), record.read_info(other_folder, "run")
    truth = record.Tensors(torch_folder / "run.safetensors")
    others = record.Tensors(other_folder / "run.safetensors")
    result = Result(suspect, error=theirs["errors"].get(str(index)))
    if result.error is not None:
        return result
    prefix = f"{index}:"
    result.parting = _parting(index, ours, theirs, truth, others, tolerance)
    keys = [name for name in truth.names() if name.startswith(prefix)]
    outputs = [name for name in keys if name.startswith(f"{prefix}output:")]
    other_outputs = [name for name in others.names() if name.startswith(f"{prefix}output:")]
    renamed = dict(zip(outputs, other_outputs, strict=False))
    for key in keys:
        other = renamed.get(key, key)
        found = others.get(other)
        if found is None and suspect.direction == "forward":
            continue
        result.judgements[key.removeprefix(prefix)] = judge(
            truth[key], found, ours["floors"].get(key), tolerance
        )
    if suspect.direction == "forward":
        # What is suspected is the output; its gradients follow from it.
        result.judgements = {n: j for n, j in result.judgements.items() if n.startswith("output")}
    return result


def _parting(
    index: int,
    ours: dict[str, Any],
    theirs: dict[str, Any],
    truth: record.Tensors,
    others: record.Tensors,
    tolerance: Tolerance,
) -> statements.Parting | None:
    """The first statement whose value differs, where the suspect's own code was followed."""
    number = str(index)
    if number not in ours["bound"] or number not in theirs["bound"]:
        return None
    sides = []
    for info, tensors in ((ours, truth), (theirs, others)):
        bound = [from_json(data) for data in info["bound"][number]]
        bound = [one for one in bound if f"{number}:{one.key}" in tensors]
        sides.append((bound, {one.key: tensors[f"{number}:{one.key}"] for one in bound}))
    floors = {
        key.partition(":")[2]: floor
        for key, floor in ours["floors"].items()
        if key.startswith(f"{number}:bound:")
    }
    (mine, values), (yours, other_values) = sides
    return statements.find(mine, yours, values, other_values, floors, tolerance)
