"""What the functions give back; each shows itself as a table in a notebook."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from html import escape
from typing import Any


@dataclass(frozen=True)
class Finding:
    """Something for a person to do; lines and columns count from 1, in a notebook in each cell."""

    line: int
    column: int
    code: str
    api: str
    severity: str
    message: str
    next_step: str
    cell: int = 0  # of a notebook, from 1


@dataclass(frozen=True)
class Assumption:
    """Something that the port takes for granted, and how to check it."""

    line: int
    api: str
    what: str
    check: str


@dataclass(frozen=True)
class AnalysisResult:
    """Counts and findings of one source."""

    uses: int
    ported: int
    findings: list[Finding]
    assumptions: list[Assumption]
    operators: dict[str, str]  # torch's name -> its counterpart, empty where there is none

    @property
    def ok(self) -> bool:
        """Whether nothing is left for a person."""
        return not self.findings

    @property
    def share(self) -> float:
        return self.ported / self.uses if self.uses else 1.0

    def _repr_html_(self) -> str:
        head = f"{self.ported} of {self.uses} uses of torch port ({self.share:.0%})"
        return _table(head, self.findings)


@dataclass(frozen=True)
class PortResult:
    """The ported source; `helpers` is the text of ms_migrate_helpers.py, where one is needed."""

    source: str
    text: str
    helpers: str
    findings: list[Finding]
    assumptions: list[Assumption]

    @property
    def ok(self) -> bool:
        """Whether nothing is left for a person."""
        return not self.findings

    def diff(self) -> str:
        """What changed, as a unified diff."""
        before, after = (text.splitlines(keepends=True) for text in (self.source, self.text))
        return "".join(difflib.unified_diff(before, after, "a/source.py", "b/source.py"))

    def _repr_html_(self) -> str:
        said = "nothing open" if self.ok else f"{len(self.findings)} open items"
        return _table(said, self.findings) + f"<pre>{escape(self.text)}</pre>"


@dataclass(frozen=True)
class ParityResult:
    """One step in both frameworks, compared. `document` is what `--format json` prints."""

    verdict: str  # parity, diverges, could not run
    text: str
    html: str = field(repr=False)
    document: dict[str, Any] = field(repr=False)

    @property
    def ok(self) -> bool:
        return self.verdict == "parity"

    @property
    def first_difference(self) -> str:
        """The layer, loss or stage that differs first; empty when all agrees."""
        found = self.document.get("diagnosis") or {}
        return str(found.get("path") or found.get("stage") or "")

    def _repr_html_(self) -> str:
        colour = "green" if self.ok else "firebrick"
        return f'<b style="color:{colour}">{escape(self.verdict)}</b><pre>{escape(self.text)}</pre>'


def _table(head: str, findings: list[Finding]) -> str:
    rows = "".join(
        f"<tr><td>{one.line}</td><td>{escape(one.code)}</td><td>{escape(one.message)}</td>"
        f"<td>{escape(one.next_step)}</td></tr>"
        for one in findings
    )
    body = f"<table><tr><th>line</th><th>code</th><th>finding</th><th>next</th></tr>{rows}</table>"
    return f"<p>{escape(head)}</p>" + (body if rows else "")
