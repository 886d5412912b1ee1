"""The diagnosis for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from migrate.doctor.diagnose import OK, PROBLEM, SKIPPED, WARNING, Check
from migrate.envelope import as_text, envelope

_MARKS = {
    OK: ("✓", "green"),
    WARNING: ("!", "yellow"),
    PROBLEM: ("✗", "bold red"),
    SKIPPED: ("-", "dim"),
}


def show(checks: Sequence[Check], console: Console, *, quiet: bool = False) -> None:
    """One line for each check, then what to type, then the verdict."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", max_width=24)
    grid.add_column(ratio=1, overflow="fold", style="dim")
    shown = [check for check in checks if not quiet or check.status == PROBLEM]
    for check in shown:
        mark, style = _MARKS[check.status]
        found = Text(check.found, style="" if check.status == OK else style)
        grid.add_row(Text(mark, style=style), Text(check.name), found, Text(check.detail))
    if shown:
        console.print(grid)
    for status, title in ((PROBLEM, "To fix"), (WARNING, "Optional")):
        fixes = [check for check in shown if check.status == status and check.fix]
        if fixes:
            console.print()
            console.print(Text(title, style="bold"))
        for fix in dict.fromkeys(check.fix for check in fixes):
            # Not wrapped: a command that is cut into lines cannot be copied.
            console.print(Text(f"  {fix}"), soft_wrap=True)
    if not quiet:
        console.print()
        console.print(Text(verdict(checks), style="bold"))


def verdict(checks: Sequence[Check]) -> str:
    problems = sum(check.status == PROBLEM for check in checks)
    warnings = sum(check.status == WARNING for check in checks)
    if problems:
        return f"{problems} of {len(checks)} checks found something to fix."
    remark = f", {warnings} of them with a remark" if warnings else ""
    return f"Fit to run both frameworks: {len(checks)} checks passed{remark}."


def as_document(checks: Sequence[Check], *, device: str, python: str) -> str:
    ok = all(check.status != PROBLEM for check in checks)
    body = {
        "python": python,
        "device": device,
        "ok": ok,
        "checks": [
            {
                "name": check.name,
                "status": check.status,
                "found": check.found,
                "detail": check.detail,
                "fix": check.fix,
            }
            for check in checks
        ],
    }
    return as_text(envelope("doctor", body, exit_code=int(not ok)))
