"""A parity result as JSON; the keys are stable and documented in docs/parity.md."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from migrate.envelope import as_text, envelope
from migrate.parity.judge.compare import STAGES, Comparison, Row
from migrate.parity.judge.tolerance import Judgement

if TYPE_CHECKING:
    from migrate.parity.check import Report

_VERDICTS = {0: "parity", 1: "diverges", 2: "could not run"}


def render(report: Report) -> str:
    return as_text(as_data(report)).rstrip("\n")


def as_data(report: Report) -> dict[str, Any]:
    """The whole result as plain data."""
    diagnosis = None
    if report.diagnosis is not None:
        diagnosis = {**asdict(report.diagnosis), "text": report.diagnosis.text}
    body = {
        "verdict": _VERDICTS[report.exit_code],
        "torch": report.torch,
        "mindspore": report.mindspore,
        "versions": report.versions,
        "plan": report.plan,
        "tolerance": asdict(report.tolerance),
        "modes": [_mode(comparison) for comparison in report.comparisons],
        "failures": report.failures,
        "diagnosis": diagnosis,
        "seconds": round(report.seconds, 3),
        "workers": [asdict(side) for side in report.sides],
    }
    return envelope("parity", body, exit_code=report.exit_code)


def _mode(comparison: Comparison) -> dict[str, Any]:
    return {
        "mode": comparison.mode,
        "agrees": comparison.ok,
        "first_stage": comparison.first_stage or None,
        "error": comparison.error,
        "stopped_in": comparison.stopped_in or None,
        "stages": {
            stage: [_row(row) for row in comparison.rows if row.stage == stage]
            for stage in STAGES
            if any(row.stage == stage for row in comparison.rows)
        },
        "only_torch": comparison.only_torch,
        "only_mindspore": comparison.only_mindspore,
        "notes": comparison.notes,
    }


def _row(row: Row) -> dict[str, Any]:
    return {"name": row.name, **judgement_data(row.judgement)}


def judgement_data(judgement: Judgement) -> dict[str, Any]:
    """A judgement; a ratio that is not finite becomes null."""
    return {
        "agrees": judgement.ok,
        "ratio": judgement.ratio if math.isfinite(judgement.ratio) else None,
        "problem": judgement.problem or None,
        "floor": judgement.floor if math.isfinite(judgement.floor) else None,
        "mismatched": judgement.mismatched,
        "measures": judgement.measures.to_json() if judgement.measures else None,
    }
