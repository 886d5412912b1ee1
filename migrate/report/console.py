"""The analysis on a terminal: tables that fit its width, then what to do, then one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from migrate.analyze.model import Action, Analysis, Feature, Operator, Place
from migrate.printable import printable
from migrate.report import words
from migrate.report.style import SEVERITY_STYLES, STATUS_STYLES

_WIDE = 110  # from here on every row has its places beside it, below under it
_FULL = 140  # from here on names are written out: torch.nn.Conv2d
_ROOM = {"yes": "green", "no": "red", "?": "dim", "-": "dim"}


def _text(text: str, style: str = "") -> Text:
    """Text whose every character is one: names of files may hold escape sequences."""
    return Text(printable(text), style=style)


def show(analysis: Analysis, console: Console) -> None:
    """Everything, in the order in which a person plans a migration."""
    console.print(Text(words.headline(analysis)))
    names = words.file_names(analysis)
    if operators := words.shown_operators(analysis):
        _operators(operators, analysis, names, console)
    if features := words.shown_features(analysis):
        _features(features, names, console)
    _actions("What to do", words.due(analysis), names, console)
    _actions("Good to know", words.notes(analysis), names, console)
    _skipped(analysis, console)
    console.print()
    # One line stays one line in a pipe, where grep and tail look for it.
    console.print(Text(words.summary(analysis), style="bold"), soft_wrap=not console.is_terminal)


def show_summary(analysis: Analysis, console: Console) -> None:
    console.print(Text(words.summary(analysis)), soft_wrap=True)


def _operators(
    rows: list[Operator], analysis: Analysis, names: Mapping[str, str], console: Console
) -> None:
    wide = console.width >= _WIDE
    mode, wanted = analysis.options.mode, analysis.options.device
    grid = _grid("Operators", wide)
    grid.add_column("PyTorch operator", no_wrap=True, overflow="ellipsis", max_width=46)
    grid.add_column("MindSpore operator", ratio=4, no_wrap=True, overflow="ellipsis")
    grid.add_column("how", no_wrap=True)
    if mode != "graph":
        grid.add_column("PyNative" if wide else "PyNat", no_wrap=True)
    if mode != "pynative":
        grid.add_column("Graph", no_wrap=True)
    grid.add_column(wanted or "device", no_wrap=True)
    grid.add_column("uses", justify="right", no_wrap=True)
    if wide:
        grid.add_column("where", ratio=3, no_wrap=True, style="dim")
    for row in rows:
        where = [_Where(row.places, names)] if wide else []
        grid.add_row(*_operator(row, wanted, mode, console.width), *where)
    console.print()
    room = console.width - 2
    _print(grid, [words.places_within(row.places, names, room) for row in rows], wide, console)


def _operator(row: Operator, wanted: str, mode: str, width: int) -> list[Text]:
    how = Text(row.status, style=STATUS_STYLES[row.status])
    if row.troubled and row.status not in ("missing", "risky", "unlisted"):
        how.append(f" -{row.troubled}", style="red")
    target = words.target(row) or "-"
    name = row.api
    if width < _FULL:
        name, target = words.short(name), words.short(target)
    pynative, graph = words.modes(row)
    cells = [Text(name), Text(target), how]
    if mode != "graph":
        cells.append(_room(pynative))
    if mode != "pynative":
        cells.append(_room(graph))
    return [*cells, _room(words.device(row, wanted)), Text(str(row.count))]


def _room(text: str) -> Text:
    return Text(text, style=_ROOM.get(text, ""))


def _features(rows: list[Feature], names: Mapping[str, str], console: Console) -> None:
    wide = console.width >= _WIDE
    grid = _grid("Features", wide)
    grid.add_column("feature", no_wrap=True)
    grid.add_column("what is used", ratio=2)
    grid.add_column("how", no_wrap=True)
    grid.add_column("uses", justify="right", no_wrap=True)
    if wide:
        grid.add_column("where", ratio=1, no_wrap=True, style="dim")
    for row in rows:
        used = Text(words.members(row))
        if not wide:
            used.append(f"\n{words.places(row.places, 4, names)}", style="dim")
        cells: list[RenderableType] = [
            Text(words.heading(row)),
            used,
            Text(row.status, style=STATUS_STYLES[row.status]),
            Text(str(row.count)),
        ]
        if wide:
            cells.append(_Where(row.places, names))
        grid.add_row(*cells)
    console.print()
    console.print(grid)


class _Where:
    """Places in a column: as many as fit into it."""

    def __init__(self, found: Sequence[Place], names: Mapping[str, str]) -> None:
        self._found, self._names = found, names

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(words.places_within(self._found, self._names, options.max_width))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(12, len(words.places(self._found, 6, self._names)))


def _grid(title: str, wide: bool) -> Table:
    return Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 2 if wide else 1, 0, 0),
        header_style="dim",
        expand=True,
    )


def _print(grid: Table, places: Sequence[str], wide: bool, console: Console) -> None:
    """A narrow terminal has no room for a column of places: they go under their rows."""
    if wide:
        console.print(grid)
        return
    lines = console.render_lines(grid, console.options)
    head = len(lines) - len(places)
    for number, line in enumerate(lines):
        console.print(Text.assemble(*((part.text, part.style or "") for part in line)), end="\n")
        if number >= head:
            where = Text(f"  {places[number - head]}", style="dim", overflow="ellipsis")
            console.print(where, no_wrap=True)


def _actions(
    title: str, groups: Sequence[Sequence[Action]], names: Mapping[str, str], console: Console
) -> None:
    if not groups:
        return
    console.print()
    console.print(Text(title, style="bold"))
    for group in groups:
        first, found = group[0], words.all_places(group)
        grid = Table.grid(padding=(0, 1, 0, 0), expand=True)
        grid.add_column(justify="right", width=6, no_wrap=True)
        grid.add_column(ratio=1, overflow="fold")
        name = Text()
        name.append(words.titles(group), style=SEVERITY_STYLES[first.severity])
        name.append(f"  {first.code}", style="dim")
        if first.mode == "graph":
            name.append("  Graph mode", style="dim")
        name.append(f"  {words.places(found, 6, names)}", style="dim")
        grid.add_row(Text(f"{len(found)}×"), name)
        if text := words.joined((first.why, first.step)):
            grid.add_row("", _text(text))
        console.print(grid)


def _skipped(analysis: Analysis, console: Console) -> None:
    if not analysis.skipped:
        return
    console.print()
    console.print(Text("Not analysed", style="bold"))
    for finding in analysis.skipped:
        console.print(_text(str(finding), style=SEVERITY_STYLES[finding.severity]), soft_wrap=True)
