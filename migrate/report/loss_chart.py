"""The losses of both frameworks, step by step, placed on paper; the template draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from migrate.parity.judge.compare import Comparison
from migrate.report.parity_chart import PAPERS, Paper

_TICKS = 4
_MOST_LABELS = {"wide": 12, "narrow": 5}
_DASHES = ("dashed", "dotted")


@dataclass(frozen=True)
class Step:
    """One step's losses, and where they are: torch's, then those of each mode of MindSpore."""

    x: float
    heights: tuple[float, ...]
    label: str
    number: int


@dataclass(frozen=True)
class Curves:
    """All curves on one paper."""

    paper: Paper
    ticks: list[tuple[float, str]]
    steps: list[Step]
    numbered: list[Step]

    @property
    def lines(self) -> list[str]:
        """The points of each curve, torch's first."""
        return [
            " ".join(f"{step.x:.1f},{step.heights[index]:.1f}" for step in self.steps)
            for index in range(len(self.steps[0].heights))
        ]


@dataclass(frozen=True)
class LossChart:
    """The drawings, and what their lines are."""

    drawings: list[Curves]
    legend: str


def chart(comparisons: Sequence[Comparison]) -> LossChart | None:
    """The curves of torch and of each mode; nothing for a single step."""
    found = {one.mode: pairs for one in comparisons if len(pairs := _pairs(one)) > 1}
    if not found:
        return None
    length = min(map(len, found.values()))
    truth = [pair[0] for pair in next(iter(found.values()))[:length]]
    series = [truth, *([pair[1] for pair in pairs[:length]] for pairs in found.values())]
    names = ["torch", *(f"MindSpore {mode}" for mode in found)]
    dashes = ("solid", *_DASHES)
    legend = "; ".join(f"{dash}: {name}" for dash, name in zip(dashes, names, strict=False))
    return LossChart([_place(series, names, paper) for paper in PAPERS], legend)


def _pairs(comparison: Comparison) -> list[tuple[float, float]]:
    measured = [
        row.judgement.measures
        for row in comparison.rows
        if row.stage == "loss" or row.name.startswith("loss of step")
    ]
    return [
        (one.truth_mean, one.other_mean)
        for one in measured
        if one is not None and isfinite(one.truth_mean) and isfinite(one.other_mean)
    ]


def _place(series: list[list[float]], names: list[str], paper: Paper) -> Curves:
    values = [value for one in series for value in one]
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    base, width = paper.height - paper.bottom, paper.width - paper.left - paper.right - 8

    def y(value: float) -> float:
        return paper.top + (high - value) / span * (base - paper.top - 6)

    steps = [
        Step(
            paper.left + 8 + index * width / (len(series[0]) - 1),
            tuple(map(y, losses)),
            f"step {index + 1}: "
            + ", ".join(f"{name} {loss:.7g}" for name, loss in zip(names, losses, strict=True)),
            index + 1,
        )
        for index, losses in enumerate(zip(*series, strict=True))
    ]
    ticks = [low + span * index / _TICKS for index in range(_TICKS + 1)]
    every = -(-len(steps) // _MOST_LABELS[paper.kind])
    return Curves(paper, [(y(value), f"{value:.4g}") for value in ticks], steps, steps[::every])
