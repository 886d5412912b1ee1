"""A row, or a list of rows, on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from migrate.lookup import facts
from migrate.lookup.names import Answer
from migrate.report import words
from migrate.report.style import STATUS_STYLES
from migrate.table import Entry, Table
from migrate.table.entry import Overload
from migrate.table.reference_pages import reference


def show(console: Console, table: Table, answer: Answer) -> None:
    """One row in full, or many in brief."""
    if answer.exact:
        _row(console, table, answer)
    else:
        _list(console, answer)


def _row(console: Console, table: Table, answer: Answer) -> None:
    entry = answer.entries[0]
    title = Text(entry.torch, style="bold")
    title.append(f"  {entry.kind}, ", style="dim")
    title.append(entry.status, style=STATUS_STYLES[entry.status])
    if answer.asked and answer.asked != entry.torch:
        title.append(f"  ({answer.asked} is another name for it)", style="dim")
    console.print(title, soft_wrap=True)
    several = len(entry.overloads) > 1
    for overload in entry.overloads:
        if several:
            console.print()
            console.print(Text(facts.form(entry, overload), style="cyan"))
        _form(console, overload)
    for line in filter(None, (entry.note, entry.way)):
        console.print()
        console.print(Text(words.sentence(line)))
    console.print()
    _details(console, table, entry)


def _form(console: Console, overload: Overload) -> None:
    targets = Grid.grid(padding=(0, 2, 0, 0))
    for word, target in facts.targets(overload) or [("MindSpore", "no counterpart")]:
        targets.add_row(Text(word, style="dim"), Text(target))
    console.print(targets)
    rows = facts.arguments(overload)
    if not rows:
        return
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    grid.add_column("torch", overflow="fold")
    grid.add_column("MindSpore", overflow="fold")
    grid.add_column("how", ratio=1)
    for row in rows:
        style = "" if row.how != "same" else "dim"
        grid.add_row(Text(row.torch), Text(row.mindspore), Text(row.how, style=style))
    console.print()
    console.print(grid)


def _details(console: Console, table: Table, entry: Entry) -> None:
    details = Grid.grid(padding=(0, 2, 0, 0))
    details.add_column(style="dim", no_wrap=True)
    details.add_column(ratio=1, overflow="fold")
    if entry.status != "missing":
        details.add_row("runs on", Text(facts.platforms(entry)))
    for name in dict.fromkeys(rule for overload in entry.overloads for rule in overload.rules):
        summary = facts.rule_summary(name)
        details.add_row("computed", Text(f"{name}: {summary}" if summary else name))
    for before, after in entry.examples:
        details.add_row("before", Text(before))
        details.add_row("after", Text(after))
    for line in facts.evidence(entry, table.folder) or ["not measured yet"]:
        details.add_row("evidence", Text(line))
    members = sorted(name.rpartition(".")[2] for name in table.children(entry.torch))
    if members:
        details.add_row("members", Text(", ".join(members)))
    console.print(details)
    if page := reference(entry):
        # Outside the grid: a link that is broken over two lines cannot be followed.
        link = Text.assemble(("see       ", "dim"), page)
        console.print(link, soft_wrap=True)


def _list(console: Console, answer: Answer) -> None:
    entries = answer.entries
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    grid.add_column("torch", no_wrap=True)
    grid.add_column("MindSpore", overflow="ellipsis", no_wrap=True, ratio=1)
    grid.add_column("how", no_wrap=True)
    for entry in entries:
        grid.add_row(
            Text(entry.torch),
            Text(entry.written_target or "-"),
            Text(entry.status, style=STATUS_STYLES[entry.status]),
        )
    console.print(grid)
    console.print(Text(f"{len(entries)} rows match {answer.query}", style="dim"))
