"""A preflight result as JSON; the keys are stable and documented in docs/preflight.md."""

from __future__ import annotations

from collections import Counter
from typing import Any

from migrate.envelope import as_text, envelope
from migrate.preflight.result import NOT_CHECKED, Finding, Line, Place, Report, Run


def render(report: Report) -> str:
    return as_text(as_data(report)).rstrip("\n")


def as_data(report: Report) -> dict[str, Any]:
    """The whole result as plain data."""
    body = {
        "subject": report.subject,
        "mindspore": report.version,
        "soc": report.soc,
        "runs": [_run(run, report) for run in report.runs],
        "not_checked": list(NOT_CHECKED[1:]),
    }
    return envelope("preflight", body, exit_code=report.exit_code)


def _run(run: Run, report: Report) -> dict[str, Any]:
    names: Counter[tuple[str, str]] = Counter()
    for kernel, count in run.kernels.items():
        names[str(kernel.kind), kernel.name] += count
    return {
        "mode": run.mode,
        "verdict": run.verdict,
        "complete": run.complete,
        "seconds": round(run.seconds, 2),
        "peak_memory_bytes": run.peak_bytes,
        "kernels": {str(kind): count for kind, count in run.by_kind.items()},
        "operators": [
            {"operator": name, "kind": kind, "count": count}
            for (kind, name), count in sorted(names.items())
        ],
        "lines": [_line(line, report) for line in run.by_line],
        "findings": [_finding(finding, report) for finding in run.findings],
        "notes": run.notes,
    }


def _line(line: Line, report: Report) -> dict[str, Any]:
    return {
        **_place(line.place, report),
        "forward": {str(kind): count for kind, count in sorted(line.forward.items())},
        "gradient": {str(kind): count for kind, count in sorted(line.gradient.items())},
    }


def _finding(finding: Finding, report: Report) -> dict[str, Any]:
    return {
        "problem": str(finding.problem),
        "operator": finding.operator or None,
        "message": finding.message,
        "gradient": finding.gradient,
        "count": finding.count,
        "places": [_place(place, report) for place in finding.places],
    }


def _place(place: Place, report: Report) -> dict[str, Any]:
    original = report.originals.get(place)
    return {
        "file": place.file,
        "line": place.line,
        "original": {"file": original.file, "line": original.line} if original else None,
    }
