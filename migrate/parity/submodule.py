"""Check one part of the model alone, on the inputs it gets in the torch run."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from migrate.errors import RequestError
from migrate.parity import check
from migrate.parity.judge import compare, isolate, localize
from migrate.parity.judge.compare import Comparison, Row
from migrate.parity.workers import record, worker


def run(request: check.Request, path: str, folder: Path, tell: check.Tell) -> check.Report:
    """Run torch whole to record the part's inputs, then the part alone on both sides."""
    began = time.monotonic()
    tell(f"recording the inputs of {path}")
    job = check.torch_job(request, folder / "torch")
    recording = worker.start(
        "torch", job, folder / "work-torch", python=request.torch_python, timeout=request.timeout
    )
    worker.finish([recording])
    torch = record.read_step(folder / "torch")
    events = [event for event in torch.run["events"] if event["path"] == path]
    if not events:
        known = ", ".join(
            dict.fromkeys(event["path"] for event in torch.run["events"] if event["path"])
        )
        raise RequestError(
            f"no submodule {path!r} runs in the torch model", next_step=f"these do: {known[:600]}"
        )
    suspects = []
    for event in events:
        other = request.renames.get(path, path)
        layer = compare.Layer(
            path,
            other,
            event["call"],
            None,
            None,
            event["inputs"],
            event["outputs"],
            [],
            [],
            [],
            [],
        )
        suspects.append(localize.Suspect(layer, "backward", False))
    tell(f"running {path} alone on both sides")
    results = isolate.run(
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
    parts = folder / "parts-mindspore"
    comparison = _comparison(results, torch, path)
    return check.Report(
        f"{request.torch} [{path}]",
        f"{request.mindspore} [{path}]",
        replace(request.plan, submodule=path).to_json(),
        {
            **check.versions(folder, ()),
            "mindspore": record.read_info(parts, "run")["framework_version"],
        },
        [comparison],
        {},
        None,
        request.tolerance,
        [check.Side("torch", recording.seconds, recording.peak_bytes)],
        time.monotonic() - began,
    )


def _comparison(results: list[isolate.Result], torch: record.Step, path: str) -> Comparison:
    rows = []
    error = None
    for number, result in enumerate(results):
        error = error or result.error
        for name, judgement in result.judgements.items():
            word, _, rest = name.partition(":")
            stage = "outputs" if word == "output" else "gradients"
            label = f"input {rest}" if word == "input-gradient" else (rest or word)
            rows.append(Row(stage, f"{label}, call {number + 1}" if number else label, judgement))
    matching: dict[str, object] = {"modules": {path: path}, "notes": []}
    return Comparison(
        "pynative",
        rows,
        [],
        {},
        {},
        matching,
        error,
        path if error else "",
        list(torch.run["notes"]),
    )
