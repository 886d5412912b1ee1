"""Check one builder: torch once, then MindSpore in both modes, each beside torch's record."""

from __future__ import annotations

import math
import re
import shutil
import time
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from catalog import Case

from migrate.errors import RequestError
from migrate.parity import check
from migrate.parity.judge.compare import Comparison
from migrate.parity.request import inputs
from migrate.parity.request.plan import Plan

MODES = ("pynative", "graph")
_KEPT = 400_000_000  # bytes of a torch record worth keeping for the next try


def check_case(case: Case, package: Path, folder: Path, *, noise_runs: int, timeout: float) -> Any:
    """The row of one builder; never raises for what a model does."""
    began = time.monotonic()
    row: dict[str, Any] = {
        "kind": case.kind,
        "input": case.input,
        "call": f"{case.name}({case.arguments})",
        "noise_runs": noise_runs,
        "date": date.today().isoformat(),
        "modes": {},
        "cause": "",
    }
    folder.mkdir(parents=True, exist_ok=True)
    for mode in MODES:
        shutil.rmtree(folder / mode, ignore_errors=True)
        try:
            report = _checked(case, package, mode, noise_runs, timeout, folder)
        except RequestError as error:
            row["modes"][mode] = {"agrees": False}
            row["cause"] = row["cause"] or _one_line(f"{error}", package)
            continue
        except Exception as error:  # a fault of the checker is a result too
            row["modes"][mode] = {"agrees": False}
            row["cause"] = row["cause"] or _one_line(f"checker: {error!r}", package)
            continue
        row["modes"][mode] = _mode(report, mode)
        if not row["modes"][mode]["agrees"]:
            row["cause"] = row["cause"] or f"{mode}: {_one_line(_cause(report, mode), package)}"
    row["seconds"] = round(time.monotonic() - began, 1)
    _clean(folder, agrees=agrees(row))
    return row


def _checked(
    case: Case, package: Path, mode: str, noise_runs: int, timeout: float, folder: Path
) -> check.Report:
    """Once without watching layers, which costs as much as the step; again with them, to name the
    layer, where the two sides differ.
    """

    def attempt(layers: bool) -> check.Report:
        # Whoever watches the layers can tell a kink from a fault in one run instead of many.
        request = _request(case, package, mode, noise_runs, timeout, layers=layers)
        request = replace(request, second_look=layers or mode != "pynative")
        return check.run(request, folder, lambda line: None)

    report = attempt(False)
    if mode == "pynative" and report.exit_code == 1:
        for part in ("torch", mode):
            shutil.rmtree(folder / part, ignore_errors=True)
        report = attempt(True)
    return report


def agrees(row: dict[str, Any]) -> bool:
    return all(row["modes"].get(mode, {}).get("agrees") for mode in MODES)


def _request(
    case: Case, package: Path, mode: str, noise_runs: int, timeout: float, *, layers: bool
) -> check.Request:
    plan = Plan(
        inputs=[inputs.parse(case.input)],
        classes=case.classes,
        loss=case.loss,
        noise_runs=noise_runs,
        layers=layers,
    )
    return check.Request(
        torch=case.torch_target,
        mindspore=f"{package / case.file}:{case.name}({case.arguments})",
        plan=plan,
        modes=(mode,),
        timeout=timeout,
    )


def _mode(report: check.Report, mode: str) -> dict[str, Any]:
    comparison = next((c for c in report.comparisons if c.mode == mode), None)
    if comparison is None:
        return {"agrees": False}
    return {
        "agrees": comparison.ok,
        "stages": {
            stage: _stage(comparison, stage)
            for stage in ("outputs", "loss", "gradients", "updates", "buffers")
        },
    }


def _stage(comparison: Comparison, stage: str) -> dict[str, Any]:
    rows = [row for row in comparison.rows if row.stage == stage]
    ratios = [row.judgement.ratio for row in rows]
    worst = max(ratios, default=0.0)
    return {
        "agrees": bool(rows) and all(row.ok for row in rows),
        "tensors": len(rows),
        "failed": sum(not row.ok for row in rows),
        "worst": round(worst, 2) if math.isfinite(worst) else None,
    }


def _cause(report: check.Report, mode: str) -> str:
    if mode in report.failures:
        return report.failures[mode]
    comparison = next(c for c in report.comparisons if c.mode == mode)
    if comparison.error is not None:
        where = comparison.stopped_in and f" in {comparison.stopped_in}"
        return f"{comparison.error.get('what', comparison.error)}{where}"
    if report.diagnosis is not None:
        return report.diagnosis.text
    first = comparison.failed(comparison.first_stage)[0]
    return f"{comparison.first_stage}: {first.name} {first.judgement.problem}"


def _one_line(text: str, package: Path) -> str:
    """No paths of this machine, no line breaks, no more than a table holds."""
    text = text.replace(f"{package}/", "")
    text = re.sub(r"/\S*/site-packages/", "", text)
    text = " ".join(text.replace("|", "/").split())
    return text if len(text) <= 400 else f"{text[:397]}..."


def _clean(folder: Path, *, agrees: bool) -> None:
    """Torch's record saves time at the next try; a big one, or a finished case, is not kept."""
    kept = folder / "torch"
    size = sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())
    for path in list(folder.iterdir()):
        if path != kept or agrees or size > _KEPT or not (kept / "run.json").is_file():
            shutil.rmtree(path, ignore_errors=True)
