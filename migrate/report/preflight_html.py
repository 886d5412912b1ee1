"""A preflight result as one self-contained page."""

from __future__ import annotations

from collections import Counter
from html import escape
from pathlib import Path

from migrate.preflight.result import (
    NOT_CHECKED,
    REFUSALS,
    Finding,
    Place,
    Problem,
    Report,
    Run,
    counted,
)
from migrate.report.html_page import page
from migrate.report.output import write_file
from migrate.report.preflight_console import code_at, memory, where


def write(report: Report, path: Path) -> None:
    write_file(path, render(report))


def render(report: Report) -> str:
    """The page as text."""
    lead = (
        f"<h1>Preflight of <code>{escape(report.subject)}</code></h1>"
        f'<p class="lead">Dry run on MindSpore {escape(report.version)}\'s Ascend backend '
        f"({escape(report.soc)}): "
        + "; ".join(f"{run.mode} mode {_verdict(run)}" for run in report.runs)
        + ".</p>"
    )
    limits = "".join(f"<li>{escape(limit)}</li>" for limit in NOT_CHECKED[1:])
    body = "".join(_run(run, report) for run in report.runs)
    return page(
        f"preflight of {report.subject}",
        f'{lead}<p class="dim">{escape(NOT_CHECKED[0])}</p><ul class="dim">{limits}</ul>{body}',
    )


def _verdict(run: Run) -> str:
    look = {"accepted": "good", "refused": "error", "program failed": "error"}.get(
        run.verdict, "status risky"
    )
    return f'<span class="{look}">{escape(run.verdict)}</span>'


def _run(run: Run, report: Report) -> str:
    kinds = counted(run.by_kind) or "none"
    facts = f"<p>Kernels: {escape(kinds)}. Peak memory: {memory(run.peak_bytes)} on the device.</p>"
    findings = "".join(_finding(finding, report) for finding in run.findings)
    found = f'<ul class="actions">{findings}</ul>' if findings else ""
    ended = "" if run.complete else "<p>Ended here: nothing after this was checked.</p>"
    notes = "".join(f'<p class="dim">{escape(note)}</p>' for note in run.notes)
    tables = _lines(run, report) + _kernels(run)
    return f"<h2>{run.mode} mode: {_verdict(run)}</h2>{facts}{found}{ended}{notes}{tables}"


def _finding(finding: Finding, report: Report) -> str:
    look = "error" if finding.problem in (*REFUSALS, Problem.FAILED) else "warning"
    side = " (gradient)" if finding.gradient else ""
    places = "".join(f'<p class="where">{_place(place, report)}</p>' for place in finding.places)
    return (
        f'<li class="{look}"><span class="count">{finding.count}</span><div>'
        f"<p><b>{escape(finding.problem)}</b> <code>{escape(finding.operator)}</code>{side}</p>"
        f"<p>{escape(finding.message)}</p>{places}</div></li>"
    )


def _place(place: Place, report: Report) -> str:
    text = f"{escape(where(place))} <code>{escape(code_at(place))}</code>"
    original = report.originals.get(place)
    if original is not None:
        text += f"<br>from {escape(where(original))} <code>{escape(code_at(original))}</code>"
    return text


def _lines(run: Run, report: Report) -> str:
    """Every source line that starts kernels."""
    rows = "".join(
        f"<tr><td>{_place(line.place, report)}</td><td>{escape(counted(line.forward))}</td>"
        f"<td>{escape(counted(line.gradient))}</td></tr>"
        for line in run.by_line
    )
    return (
        "<details><summary>Kernels by source line</summary><table><tr><th>line</th>"
        f"<th>forward</th><th>gradient</th></tr>{rows}</table></details>"
        if rows
        else ""
    )


def _kernels(run: Run) -> str:
    names: Counter[tuple[str, str]] = Counter()
    for kernel, count in run.kernels.items():
        names[kernel.name, str(kernel.kind)] += count
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(kind)}</td><td>{count}</td></tr>"
        for (name, kind), count in sorted(names.items())
    )
    return (
        "<details><summary>All operators</summary><table><tr><th>operator</th><th>kernel</th>"
        f"<th>calls</th></tr>{rows}</table></details>"
    )
