"""The analysis as one HTML file: no scripts to fetch, no fonts, readable in any browser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from migrate import __version__
from migrate.analyze.model import LEVELS, Action, Analysis, Feature, Operator, Place
from migrate.report import words
from migrate.report.html_page import page

_CODE = re.compile(r"`([^`]+)`")


def render(analysis: Analysis) -> str:
    """One page: the share first, then what to do, then the tables it follows from."""
    body = [
        "<h1>PyTorch to MindSpore</h1>",
        f"<p class=lead>{escape(words.summary(analysis))}</p>",
        _bar(analysis),
        f"<p class=dim>{escape(words.headline(analysis))}.</p>",
        _actions("What to do", words.due(analysis)),
        _actions("Good to know", words.notes(analysis)),
        _operators(analysis),
        _features(analysis),
        _skipped(analysis),
        f"<footer>ms-migrate {escape(__version__)}</footer>",
    ]
    return page("PyTorch to MindSpore", "\n".join(part for part in body if part))


def _bar(analysis: Analysis) -> str:
    """Uses by status, as wide as they are many."""
    if not analysis.uses:
        return ""
    parts = "".join(
        f'<span class="{name}" style="flex-grow:{number}" title="{name}: {number}"></span>'
        for name, number in analysis.by_status.items()
    )
    legend = " ".join(
        f'<span class=key><i class="{name}"></i>{name} {number}</span>'
        for name, number in analysis.by_status.items()
    )
    return f'<div class=bar role=img aria-label="uses by status">{parts}</div><p>{legend}</p>'


def _actions(title: str, groups: Sequence[Sequence[Action]]) -> str:
    if not groups:
        return ""
    items = "".join(_action(group) for group in groups)
    return f"<h2>{title}</h2><ol class=actions>{items}</ol>"


def _action(group: Sequence[Action]) -> str:
    first, found = group[0], words.all_places(group)
    mode = " <small>Graph mode</small>" if first.mode == "graph" else ""
    names = ", ".join(f"<code>{escape(action.title)}</code>" for action in group)
    text = _CODE.sub(r"<code>\1</code>", escape(words.joined((first.why, first.step))))
    return (
        f'<li class="{first.severity}"><b class=count>{len(found)}×</b>'
        f"<div>{names} <small>{first.code}</small>{mode}<p>{text}</p>{_places(found)}</div></li>"
    )


def _operators(analysis: Analysis) -> str:
    rows = words.shown_operators(analysis)
    if not rows:
        return ""
    wanted = analysis.options.device
    head = (
        "PyTorch operator",
        "MindSpore operator",
        "how",
        "PyNative",
        "Graph",
        wanted or "device",
        "uses",
        "where",
    )
    lines = "".join(_operator(row, wanted) for row in rows)
    used = {row.status for row in rows}
    boxes = "".join(
        f'<label><input type=checkbox checked data-status="{name}">{name}</label>'
        for name in LEVELS
        if name in used
    )
    return (
        "<h2>Operators</h2>"
        f'<p class=filter><input type=search placeholder="filter" aria-label="filter">{boxes}</p>'
        f"{_table(head, lines, 'operators')}"
    )


def _operator(row: Operator, wanted: str) -> str:
    trouble = f" <small class=error>-{row.troubled}</small>" if row.troubled else ""
    cells = [
        f"<code>{escape(row.api)}</code>",
        f"<code>{escape(row.target)}</code>" if row.target else "-",
        _status(row.status) + trouble,
        *(_yes(text) for text in (*words.modes(row), words.device(row, wanted))),
        str(row.count),
        _places(row.places),
    ]
    note = f' title="{escape(row.entry.note)}"' if row.entry and row.entry.note else ""
    return f'<tr data-status="{row.status}"{note}>{_cells(cells)}</tr>'


def _features(analysis: Analysis) -> str:
    rows = words.shown_features(analysis)
    if not rows:
        return ""
    head = ("feature", "what is used", "how", "uses", "where")
    lines = "".join(_feature(row) for row in rows)
    return f"<h2>Features</h2>{_table(head, lines, 'features')}"


def _feature(row: Feature) -> str:
    cells = [
        escape(words.heading(row)),
        escape(words.members(row)),
        _status(row.status),
        str(row.count),
        _places(row.places),
    ]
    return f"<tr>{_cells(cells)}</tr>"


def _skipped(analysis: Analysis) -> str:
    if not analysis.skipped:
        return ""
    items = "".join(f"<li>{escape(str(finding))}</li>" for finding in analysis.skipped)
    return f"<h2>Not analysed</h2><ul>{items}</ul>"


def _table(head: Sequence[str], lines: str, name: str) -> str:
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    return f'<table id="{name}"><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table>'


def _cells(cells: Sequence[str]) -> str:
    return "".join(f"<td>{cell}</td>" for cell in cells)


def _status(status: str) -> str:
    return f'<span class="status {status}">{status}</span>'


def _yes(text: str) -> str:
    kind = {"yes": "good", "no": "error"}.get(text, "")
    return f'<span class="{kind}">{escape(text)}</span>' if kind else escape(text)


def _places(places: Sequence[Place]) -> str:
    """A few at once, all on request."""
    short = escape(words.places(places, 3))
    if len(places) <= 3:
        return f"<span class=where>{short}</span>"
    full = "".join(f"<li>{escape(_place(place))}</li>" for place in places)
    return f"<details class=where><summary>{short}</summary><ul>{full}</ul></details>"


def _place(place: Place) -> str:
    return f"{place}  {place.scope}" if place.scope else str(place)
