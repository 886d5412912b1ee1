"""The analysis as Markdown, for a ticket or a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from migrate.analyze.model import Action, Analysis
from migrate.printable import printable
from migrate.report import words

_PLACES = 12  # a ticket wants to be read; the JSON has them all


def render(analysis: Analysis) -> str:
    parts = [
        "# PyTorch to MindSpore",
        f"**{words.summary(analysis)}**",
        words.headline(analysis) + ".",
        *_operators(analysis),
        *_features(analysis),
        *_actions("What to do", words.due(analysis), words.file_names(analysis)),
        *_actions("Good to know", words.notes(analysis), words.file_names(analysis)),
    ]
    if analysis.skipped:
        lines = "\n".join(f"- {_plain(str(finding))}" for finding in analysis.skipped)
        parts += ["## Not analysed", lines]
    return "\n\n".join(parts) + "\n"


def _operators(analysis: Analysis) -> list[str]:
    rows = words.shown_operators(analysis)
    if not rows:
        return []
    wanted, names = analysis.options.device, words.file_names(analysis)
    head = ["PyTorch operator", "MindSpore operator", "how", "PyNative", "Graph"]
    table = [
        [
            _code(row.api),
            _code(words.target(row)) if row.target else "-",
            row.status + (f" (-{row.troubled})" if row.troubled else ""),
            *words.modes(row),
            words.device(row, wanted),
            str(row.count),
            _plain(words.places(row.places, _PLACES, names)),
        ]
        for row in rows
    ]
    return ["## Operators", _table([*head, wanted or "device", "uses", "where"], table)]


def _features(analysis: Analysis) -> list[str]:
    rows = words.shown_features(analysis)
    if not rows:
        return []
    names = words.file_names(analysis)
    table = [
        [
            words.heading(row),
            _plain(words.members(row)),
            row.status,
            str(row.count),
            _plain(words.places(row.places, _PLACES, names)),
        ]
        for row in rows
    ]
    return ["## Features", _table(["feature", "what is used", "how", "uses", "where"], table)]


def _actions(title: str, groups: Sequence[Sequence[Action]], names: Mapping[str, str]) -> list[str]:
    if not groups:
        return []
    lines = []
    for group in groups:
        first, found = group[0], words.all_places(group)
        titles = ", ".join(_code(action.title) for action in group)
        mode = " in Graph mode" if first.mode == "graph" else ""
        where = _plain(words.places(found, _PLACES, names))
        lines.append(
            f"1. {titles}{mode} ({first.code}, {words.count(len(found), 'use')}: {where})  \n"
            f"   {_plain(words.joined((first.why, first.step)))}"
        )
    return [f"## {title}", "\n".join(lines)]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def _code(text: str) -> str:
    """Code with a fence longer than any backtick run in it; a bar would end the cell."""
    text = printable(text, keep="")
    fence = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


def _plain(text: str) -> str:
    text = printable(text, keep="")
    for mark in ("\\", "*", "_", "<", "|", "[", "]"):
        text = text.replace(mark, "\\" + mark)
    return text
