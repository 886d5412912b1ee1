"""A port as one page: both sources side by side, and what stands behind each changed line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from migrate.findings import Finding
from migrate.port.file import PortedFile
from migrate.port.tree import PortedTree
from migrate.printable import printable
from migrate.report.coverage_words import covered, open_items
from migrate.report.line_pairs import pair_lines
from migrate.report.pages import facts, render_page
from migrate.report.word_marks import mark_words

_AROUND = 3  # unchanged lines around a change


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the two texts, or a remark between lines."""

    kind: str  # same, changed, gap, said
    old_line: int = 0
    old: str = ""
    new_line: int = 0
    new: str = ""
    why: str = ""


def render(tree: PortedTree, findings: Sequence[Finding], base: Path | None = None) -> str:
    """The page as text."""
    coverage = tree.coverage
    files = [
        _file(str(target), ported, [one for one in findings if one.path == ported.source.path])
        for target, ported in tree.files.items()
        if ported.changed or ported.coverage.uses or ported.problem
    ]
    first = next(iter(tree.files.values()), None)
    return render_page(
        "port.html",
        base=base,
        title="Port to MindSpore",
        lead=f"{covered(coverage)}; {open_items(len(findings))}.",
        facts=facts(str(first.source.path.parent) if first else "."),
        coverage=coverage,
        percent=int(100 * coverage.share) if coverage.open else 100,
        findings=findings,
        files=sorted(files, key=lambda file: (-file["open"], file["name"])),
    )


def _file(name: str, ported: PortedFile, findings: list[Finding]) -> dict[str, Any]:
    source = ported.source
    before: list[str] = []
    if ported.problem is None:
        before = (source.path.read_text("utf-8-sig") if source.notebook else source.read()).split(
            "\n"
        )
    rows = list(_said_once(_rows(before, ported.text.split("\n"), ported.reasons)))
    changed = sum(row.kind == "changed" for row in rows)
    shown = list(_shortened(_with_findings(rows, findings)))
    return {
        "name": printable(name, keep=""),
        "coverage": ported.coverage,
        "open": len(findings),
        "changed": changed,
        "rows": shown if changed or findings else [],
    }


def _rows(before: list[str], after: list[str], reasons: dict[int, str]) -> Iterator[Row]:
    for unchanged, (i, j) in pair_lines(before, after):
        old, new = i + 1, j + 1
        left, right = printable(before[i]) if old else "", printable(after[j]) if new else ""
        if old and new and not unchanged:
            left, right = mark_words(left, right)
        yield Row(
            "same" if unchanged else "changed",
            old,
            left,
            new,
            right,
            "" if unchanged else reasons.get(new, "") or reasons.get(-old, ""),
        )


def _said_once(rows: Iterable[Row]) -> Iterator[Row]:
    """A reason stands at the first of the lines that it explains: one that has both sides, if any
    has.
    """
    for _, group in groupby(rows, key=lambda row: row.why):
        listed = list(group)
        both = (index for index, row in enumerate(listed) if row.old_line and row.new_line)
        shown = next(both, 0)
        for index, row in enumerate(listed):
            yield row if index == shown else replace(row, why="")


def _with_findings(rows: Iterable[Row], findings: Iterable[Finding]) -> Iterator[Row]:
    """Findings below the lines that they speak of; those of the file come first."""
    waiting: dict[int, list[Finding]] = {}
    for finding in findings:
        waiting.setdefault(0 if finding.cell else finding.line, []).append(finding)
    yield from map(_said, waiting.pop(0, []))
    for row in rows:
        yield row
        if row.old_line:
            yield from map(_said, waiting.pop(row.old_line, []))
    for left in waiting.values():
        yield from map(_said, left)


def _said(finding: Finding) -> Row:
    step = f"; {finding.next_step}" if finding.next_step else ""
    place = f"cell {finding.cell}, line {finding.line}: " if finding.cell else ""
    return Row("said", 0, finding.code, 0, f"{place}{finding.message}{step}", finding.severity)


def _shortened(rows: Iterable[Row]) -> Iterator[Row]:
    """Without the long stretches in which nothing changed."""
    listed = list(rows)
    near = {
        index + offset
        for index, row in enumerate(listed)
        if row.kind != "same"
        for offset in range(-_AROUND, _AROUND + 1)
    }
    left_out = 0
    for index, row in enumerate(listed):
        if index in near:
            if left_out:
                yield Row("gap", new=f"{left_out} unchanged")
                left_out = 0
            yield row
        else:
            left_out += 1
    if left_out and near:
        yield Row("gap", new=f"{left_out} unchanged")
