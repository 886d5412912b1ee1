"""A preflight result on the terminal."""

from __future__ import annotations

import linecache
import os
import sys
import textwrap
from collections.abc import Callable, Iterator
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

_RED, _GREEN, _YELLOW, _DIM, _BOLD = "31", "32", "33", "2", "1"
_MOST_PLACES = 6
Paint = Callable[[str, str], str]


def render(report: Report, *, colour: bool | None = None, lines_too: bool = False) -> str:
    """The whole result as text."""
    use = sys.stdout.isatty() and "NO_COLOR" not in os.environ if colour is None else colour

    def paint(text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if use else text

    lines = [
        f"dry run of {report.subject} on MindSpore {report.version}'s Ascend backend "
        f"({report.soc})",
        "",
    ]
    for run in report.runs:
        lines += [*_run(run, report, paint), *(_lines(run, report) if lines_too else ()), ""]
    lines += [paint(NOT_CHECKED[0], _DIM)]
    for limit in NOT_CHECKED[1:]:
        wrapped = textwrap.wrap(limit, 96, initial_indent="  - ", subsequent_indent="    ")
        lines += [paint(line, _DIM) for line in wrapped]
    return "\n".join(lines) + "\n"


def _run(run: Run, report: Report, paint: Paint) -> list[str]:
    code = {"accepted": _GREEN, "refused": _RED, "program failed": _RED}.get(run.verdict, _YELLOW)
    lines = [f"{paint(f'{run.mode} mode', _BOLD)}: {paint(run.verdict, code)}"]
    lines.append(f"  kernels      {counted(run.by_kind) or 'none'}")
    if run.peak_bytes:
        lines.append(f"  peak memory  {memory(run.peak_bytes)} on the device")
    for finding in run.findings:
        lines += _finding(finding, report, paint)
    if not run.complete:
        lines.append("  ended here: nothing after this was checked")
    lines += [paint(f"  note: {note}", _DIM) for note in run.notes]
    return lines


def _lines(run: Run, report: Report) -> Iterator[str]:
    """Every source line that starts kernels, with those of its gradient."""
    yield "  kernels by source line"
    for line in run.by_line:
        yield from _place(line.place, report)
        gradient = f"; gradient: {counted(line.gradient)}" if line.gradient else ""
        yield f"      {counted(line.forward) or 'none'}{gradient}"


def _finding(finding: Finding, report: Report, paint: Paint) -> list[str]:
    code = _RED if finding.problem in (*REFUSALS, Problem.FAILED) else _YELLOW
    times = f", {finding.count} times" if finding.count > 1 else ""
    side = " (gradient)" if finding.gradient else ""
    head = f"{finding.operator}{side}{times}" if finding.operator else ""
    lines = [f"  {paint(str(finding.problem), code)}{': ' if head else ''}{head}"]
    lines += textwrap.wrap(
        finding.message,
        96,
        initial_indent="    ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    for place in finding.places[:_MOST_PLACES]:
        lines += _place(place, report)
    if len(finding.places) > _MOST_PLACES:
        lines.append(f"    and {len(finding.places) - _MOST_PLACES} more lines")
    return lines


def _place(place: Place, report: Report) -> list[str]:
    lines = [f"    {where(place)}    {code_at(place)}".rstrip()]
    original = report.originals.get(place)
    if original is not None:
        lines.append(f"      from {where(original)}    {code_at(original)}".rstrip())
    return lines


def where(place: Place) -> str:
    """`file:line`, relative to the current folder where that is shorter."""
    path = Path(place.file)
    if path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return f"{path}:{place.line}"


def code_at(place: Place) -> str:
    return linecache.getline(place.file, place.line).strip()


def memory(count: int) -> str:
    """Bytes in a unit for people."""
    if count >= 2**30:
        return f"{count / 2**30:.2f} GiB"
    return f"{count / 2**20:.1f} MiB"
