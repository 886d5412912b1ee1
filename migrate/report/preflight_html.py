"""A preflight result as one self-contained page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from migrate.preflight.result import NOT_CHECKED, REFUSALS, Problem, Report, Run, counted
from migrate.report.output import write_file
from migrate.report.pages import facts, render_page
from migrate.report.preflight_console import code_at, memory, where


def write(report: Report, path: Path) -> None:
    write_file(path, render(report))


def render(report: Report) -> str:
    """The page as text."""
    verdicts = "; ".join(f"{run.mode} mode {run.verdict}" for run in report.runs)
    return render_page(
        "preflight.html",
        filters={"where": where, "code_at": code_at, "memory": memory, "counted": counted},
        title=f"Preflight of {report.subject}",
        lead=f"Dry run on MindSpore {report.version}'s Ascend backend ({report.soc}): {verdicts}.",
        facts=facts(report.subject),
        limits=NOT_CHECKED,
        runs=report.runs,
        refusals=(*REFUSALS, Problem.FAILED),
        originals=report.originals,
        operators=[_operators(run) for run in report.runs],
    )


def _operators(run: Run) -> list[tuple[str, str, int]]:
    names: Counter[tuple[str, str]] = Counter()
    for kernel, count in run.kernels.items():
        names[kernel.name, str(kernel.kind)] += count
    return [(name, kind, count) for (name, kind), count in sorted(names.items())]
