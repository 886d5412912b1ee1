"""Let the porter try the program in memory, and put what it found into the analysis.

What `analyze` says is due, is then what `port` leaves open; its counts are the porter's. What only
the device or the mode objects to stays, because the porter is not asked about them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from migrate.analyze.model import Action, Analysis, FileCount, Place
from migrate.findings import CODES, Finding, in_order
from migrate.port.tree import Options, PortedTree, port_tree
from migrate.project import Project
from migrate.table import Table

# Of the device and the mode: the table knows them, the porter does not ask.
_OF_THE_TARGET = ("MS304", "MS305")


def measure(
    analysis: Analysis,
    paths: list[Path],
    project: Project,
    table: Table,
    jobs: int,
    done: Callable[[int], None] | None = None,
) -> None:
    """Port the project in memory; nothing is written."""
    # In place: nothing but sources is looked at.
    tree = port_tree(paths, project, table, Options(jobs=jobs, in_place=True), done)
    found = in_order(tree.findings)
    analysis.coverage = tree.coverage
    analysis.uses, analysis.automatic = analysis.coverage.uses, analysis.coverage.ported
    unread = {finding.path for finding in analysis.skipped}
    due = actions(finding for finding in found if finding.path not in unread)
    kept = _said_once(
        (
            action
            for action in analysis.actions
            if action.code in _OF_THE_TARGET or action.severity == "note"
        ),
        due,
    )
    analysis.actions = [*due, *kept]
    analysis.open_items = sum(action.count for action in due) + len(analysis.skipped)
    analysis.by_file = _by_file(tree, found)


def _said_once(notes: Iterable[Action], due: list[Action]) -> Iterator[Action]:
    """The notes without the lines for which the same finding is due."""
    said = {(a.code, place.path, place.cell, place.line) for a in due for place in a.places}
    for note in notes:
        note.places = [p for p in note.places if (note.code, p.path, p.cell, p.line) not in said]
        if note.places:
            yield note


def actions(findings: Iterable[Finding]) -> list[Action]:
    """Findings that say the same of the same API stand together; the most frequent first."""
    grouped: dict[tuple[str, str, str, str], Action] = {}
    for one in findings:
        key = one.code, one.api, one.message, one.next_step
        if key not in grouped:
            title = one.api or CODES[one.code].summary.rstrip(".")
            grouped[key] = Action(
                one.code, title, one.message, one.next_step, one.severity, api=one.api, open=True
            )
        grouped[key].places.append(
            Place(str(one.path), one.line, one.column, one.cell, "", one.line, one.column)
        )
    return sorted(grouped.values(), key=lambda action: (-action.count, action.title, action.why))


def _by_file(tree: PortedTree, found: list[Finding]) -> list[FileCount]:
    """What each file asks for, those with most to do first."""
    items: dict[Path, int] = {}
    for finding in found:
        items[finding.path] = items.get(finding.path, 0) + 1
    rows = [
        FileCount(str(path), ported.coverage, items.get(path, 0))
        for ported in tree.files.values()
        if (path := ported.source.path) in items or ported.coverage.uses
    ]
    return sorted(rows, key=lambda row: (-row.open_items, -row.coverage.uses, row.path))
