"""Results of verify on the terminal."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from migrate.report.output import screen
from migrate.table import Table
from migrate.verify.tally import STAGES, Tally

STYLES = {
    "agrees": "green",
    "refused": "yellow",
    "fails": "yellow",
    "disagrees": "red",
    "untried": "dim",
}


def show(table: Table, rows: dict[str, Tally], cases: dict[str, Tally], *, brief: bool) -> None:
    """All rows that were asked for; of a whole sweep, those that need a look, then totals."""
    with screen() as console:
        shown = {
            name: tally for name, tally in rows.items() if not brief or tally.verdict != "agrees"
        }
        _grid(console, table, shown)
        if brief:
            _totals(console, rows, cases)


def _grid(console: Console, table: Table, rows: dict[str, Tally]) -> None:
    if not rows:
        return
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("torch", "row says", "verdict", *STAGES, "other dtypes"):
        grid.add_column(name, no_wrap=name == "torch")
    for name, tally in sorted(rows.items()):
        entry = table.get(name)
        counts = [f"{agreed}/{tried}" if tried else "-" for agreed, tried in tally.stages.values()]
        others = " ".join(f"{d} {a}/{t}" for d, (a, t) in sorted(tally.others.items()))
        grid.add_row(
            Text(name),
            Text(entry.status if entry else "no row"),
            Text(tally.verdict, style=STYLES[tally.verdict]),
            *map(Text, counts),
            Text(others or "-"),
        )
    console.print(grid)
    for name, tally in sorted(rows.items()):
        if tally.reason:
            console.print(Text(f"{name}: {tally.reason}"), soft_wrap=True)


def _totals(console: Console, rows: dict[str, Tally], cases: dict[str, Tally]) -> None:
    console.print()
    kinds: dict[str, Counter[str]] = {}
    for key, tally in cases.items():
        kinds.setdefault(key.partition(":")[0], Counter())[tally.verdict] += 1
    kinds["row"] = Counter(tally.verdict for tally in rows.values())
    for kind, counts in kinds.items():
        said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
        console.print(Text(f"{kind}: {sum(counts.values())} tried; {said}"))
