"""How much of a file was ported, on what grounds: the one count behind `analyze` and `port`.

A use of torch's API is open where a finding stands at it. What is ported rests on a measured row,
or on an assumption, which is listed with its line and the way to check it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from migrate.findings import Finding
from migrate.project import SourceFile
from migrate.resolve.usage import Usage
from migrate.resources import folder
from migrate.table import Table
from migrate.table.evidence import verdict
from migrate.table.program_evidence import is_measured

# Names that are not computed with: an annotation, a base class, a test of a type.
_NAMED = frozenset({"annotation", "base", "type", "exists"})
_NOT_USES = frozenset({"import", "unknown"})
_RUN = "`ms-migrate parity` on a model that uses it, or a run of both programs"


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that the port takes for granted at one place."""

    path: Path
    line: int
    api: str
    what: str
    check: str
    cell: int = 0

    @property
    def where(self) -> str:
        return str(Finding(self.path, self.line, 0, "", "", cell=self.cell).where)


@dataclass(slots=True)
class Coverage:
    """Counts of one file, or of many."""

    uses: int = 0
    ported: int = 0
    assumptions: list[Assumption] = field(default_factory=list)

    @property
    def open(self) -> int:
        return self.uses - self.ported

    @property
    def assumed(self) -> int:
        """Uses that are ported on an assumption."""
        return sum(bool(one.api) for one in self.assumptions)

    @property
    def measured(self) -> int:
        return self.ported - self.assumed

    @property
    def share(self) -> float:
        return self.ported / self.uses if self.uses else 1.0

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(
            self.uses + other.uses,
            self.ported + other.ported,
            [*self.assumptions, *other.assumptions],
        )


def file_coverage(
    source: SourceFile,
    usages: Sequence[Usage],
    findings: Sequence[Finding],
    table: Table,
    *,
    left: bool = False,
) -> Coverage:
    """The counts of one file from its uses as they stood in the source; `left`: nothing of it was
    ported.
    """
    by_line: dict[int, list[str]] = {}
    for finding in findings:
        by_line.setdefault(finding.line, []).append(table.canonical(finding.api) or finding.api)
    counted = Coverage()
    for usage in usages:
        if usage.form == "unknown" and not left:
            counted.assumptions.append(_unknown(source, usage))
        if usage.form in _NOT_USES:
            continue
        counted.uses += 1
        if left or 0 in by_line or _is_open(usage, by_line.get(usage.line, ()), table):
            continue
        counted.ported += 1
        assumption = _assumption(source, usage, table)
        if assumption is not None:
            counted.assumptions.append(assumption)
    return counted


def _is_open(usage: Usage, apis: Sequence[str], table: Table) -> bool:
    """Whether a finding of its line speaks of this use, or of the whole line."""
    own = {usage.api, table.canonical(usage.api), *usage.alternatives}
    return any(not api or api in own for api in apis)


def _assumption(source: SourceFile, usage: Usage, table: Table) -> Assumption | None:
    if usage.form in _NAMED:
        return None
    entry = table.get(usage.api)
    if entry is None:
        return None
    if entry.status == "risky":
        what = entry.note or "the counterpart may behave differently"
    else:
        mappings = folder("mappings")
        found = verdict(entry.torch, mappings)
        if found == "agrees" or (not found and is_measured(entry.torch, mappings)):
            return None
        what = (
            f"verify says of its row: {found}"
            if found
            else "its row was not measured against torch, alone or in programs"
        )
    return Assumption(source.path, usage.line, entry.torch, what, _RUN)


def _unknown(source: SourceFile, usage: Usage) -> Assumption:
    """Such methods are no uses: whether they are torch's at all is what is not known."""
    name = usage.api.rpartition(".")[2]
    what = f"`.{name}` stays as it is: the type of the value is not known"
    return Assumption(source.path, usage.line, "", what, "annotate the value (x: torch.Tensor)")
