"""The verdicts as a table by subject and by class, for the terminal and for docs/results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.hunt.idioms import CLASSES
from tests.hunt.record import every_program
from tests.hunt.run import VERDICTS, Judged

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results" / "hunt.md"
_ORDER = ("silent", "loud", "flagged", "right")


def idiom_verdicts(judged: Iterable[Judged]) -> dict[tuple[str, str], tuple[str, Judged]]:
    """An idiom that is run in two forms has the worse verdict of the two."""
    worst: dict[tuple[str, str], tuple[str, Judged]] = {}
    for one in judged:
        key = (one.program.subject, one.program.idiom)
        known = worst.get(key)
        if known is None or _rank(one.verdict) < _rank(known[0]):
            worst[key] = (one.verdict, one)
    return worst


def _rank(verdict: str) -> int:
    return _ORDER.index(verdict) if verdict in _ORDER else -1


def _rows(
    judged: list[Judged], groups: Callable[[Judged], Iterable[str]]
) -> list[tuple[str, Counter[str]]]:
    counts: dict[str, Counter[str]] = {}
    for verdict, one in idiom_verdicts(judged).values():
        for group in groups(one):
            counts.setdefault(group, Counter())[verdict] += 1
    return sorted(counts.items())


def _by_class(one: Judged) -> list[str]:
    return [f"{number:2} {CLASSES[number]}" for number in one.program.classes]


def text_table(judged: list[Judged]) -> str:
    lines = []
    for groups in (lambda one: [one.program.subject], _by_class, lambda one: ["all"]):
        for name, counts in _rows(judged, groups):
            numbers = "".join(f"{counts[v]:5} {v}" for v in (*VERDICTS, "invalid") if counts[v])
            lines.append(f"{name:40} {sum(counts.values()):4} {numbers}")
        lines.append("")
    return "\n".join(lines)


_INTRODUCTION = """\
# The hunt: idioms run in torch, PyNative and Graph mode

`make hunt`, CPU, Python 3.11, {versions}. `python -m tests.hunt SUBJECT --write` renews a part;
each verdict is that of a program's last run (hunt.json). Programs by the date of that run: {dates}.

*right*: both modes give torch's values, dtypes, shapes, names and text, or raise as torch does.
*flagged*: they do not, and `port` has a finding. *loud*: a run-time error that no finding foretold.
*silent*: anything else. An idiom that is run in two forms counts with the worse of the two.
"""


def run_dates(judged: list[Judged], programs: int) -> str:
    """`2026-11-18: 1,100; earlier, not dated: 60; never run: 4`."""
    counts = Counter(one.date for one in judged)
    dated = [f"{date}: {counts[date]:,}" for date in sorted(filter(None, counts), reverse=True)]
    if counts[""]:
        dated.append(f"earlier, not dated: {counts['']:,}")
    if programs > len(judged):
        dated.append(f"never run: {programs - len(judged):,}")
    return "; ".join(dated)


def page(judged: list[Judged]) -> str:
    import mindspore
    import torch

    versions = f"torch {torch.__version__.partition('+')[0]}, MindSpore {mindspore.__version__}"
    dates = run_dates(judged, len(every_program()))
    parts = [_INTRODUCTION.format(versions=versions, dates=dates)]
    for title, groups in (("subject", lambda one: [one.program.subject]), ("class", _by_class)):
        parts += [f"| {title} | idioms | " + " | ".join(VERDICTS) + " |", "|---|" + "--:|" * 5]
        rows = _rows(judged, groups)
        rows += [("**all**", row[1]) for row in _rows(judged, lambda one: ["all"])]
        for name, counts in rows:
            numbers = " | ".join(str(counts[verdict]) for verdict in VERDICTS)
            parts.append(f"| {name.strip()} | {sum(counts.values())} | {numbers} |")
        parts.append("")
    for verdict in ("silent", "loud", "flagged"):
        worst = [(w, one) for w, one in idiom_verdicts(judged).values() if w == verdict]
        if worst:
            parts += [f"## {verdict.capitalize()}", ""]
            parts += [
                f"- {one.program.subject}: {one.program.idiom} \u2014 {_why(one)}"
                for _, one in worst
            ]
            parts.append("")
    return "\n".join(parts)


def _why(one: Judged) -> str:
    if one.findings:
        return one.findings[0].partition(": ")[2]
    mode, text = next(iter(one.differences.items()))
    return f"{mode}: " + " ".join(text.split())[:160]
