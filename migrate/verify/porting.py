"""Send generated functions through the porter, and say for each what it refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from migrate.findings import Finding
from migrate.table import Table

# Findings that leave torch in the code; all others accompany code that was written.
_LEFT = frozenset(
    {"MS301", "MS303", "MS306", "MS307", "MS309", "MS310", "MS311", "MS312", "MS313", "MS408"}
)


@dataclass(slots=True)
class Ported:
    """A MindSpore program with helper module, and the definitions that were refused."""

    text: str
    helpers: str
    refused: dict[str, str] = field(default_factory=dict)  # definition -> reason


def port_text(text: str, folder: Path) -> Ported:
    """Port one program; the file is written so that messages and encodings have a place."""
    from migrate.emit.bundle import helper_module
    from migrate.port.file import port_file
    from migrate.project import discover
    from migrate.resolve import Resolver
    from migrate.syntax.import_planner import HELPER_MODULE, HELPERS

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "torch_program.py"
    path.write_text(text, encoding="utf-8")
    project = discover([path])
    ported = port_file(
        Resolver(project, _table()),
        project.files[0],
        helper_import=f"import {HELPER_MODULE} as {HELPERS}",
    )
    if ported.problem is not None:
        return Ported("", "", dict.fromkeys(_starts(text).values(), ported.problem.message))
    helpers = helper_module(ported.helpers, ported.generated) if ported.helpers else ""
    return Ported(ported.text, helpers, _refused(text, ported.findings))


def runs_in_graph(api: str) -> bool:
    """Whether the row claims Graph mode at all."""
    entry = _table().get(api)
    return entry is None or "graph" in entry.modes


@cache
def _table() -> Table:
    return Table()


def _refused(text: str, findings: Iterable[Finding]) -> dict[str, str]:
    starts = sorted(_starts(text).items())
    reasons: dict[str, str] = {}
    for finding in findings:
        if finding.code not in _LEFT:
            continue
        owners = [name for line, name in starts if line <= finding.line][-1:]
        for name in owners or [name for _, name in starts]:
            api = f"{finding.api}: " if finding.api else ""
            reasons.setdefault(name, f"{api}{finding.message} [{finding.code}]")
    return reasons


def _starts(text: str) -> dict[int, str]:
    """Line of each top-level definition."""
    return {
        number: found[1]
        for number, line in enumerate(text.splitlines(), 1)
        if (found := re.match(r"(?:def|class) (\w+)", line))
    }
