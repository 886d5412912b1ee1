"""The losses of both frameworks, step by step, placed on paper; the template draws them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from migrate.parity.judge.compare import Comparison
from migrate.report.parity_chart import PAPERS, Paper

_TICKS = 4
_MOST_LABELS = {"wide": 12, "narrow": 5}


@dataclass(frozen=True)
class Step:
    """One step's losses, and where they are."""

    x: float
    ours: float
    theirs: float
    label: str
    number: int


@dataclass(frozen=True)
class Curves:
    """Both curves on one paper."""

    paper: Paper
    ticks: list[tuple[float, str]]
    steps: list[Step]
    numbered: list[Step]

    @property
    def ours(self) -> str:
        return " ".join(f"{step.x:.1f},{step.ours:.1f}" for step in self.steps)

    @property
    def theirs(self) -> str:
        return " ".join(f"{step.x:.1f},{step.theirs:.1f}" for step in self.steps)


def curves(comparison: Comparison) -> list[Curves]:
    """The two curves on each paper; nothing for a single step."""
    measured = [
        (row.name, row.judgement.measures)
        for row in comparison.rows
        if row.stage == "loss" or row.name.startswith("loss of step")
    ]
    pairs = [
        (name, one.truth_mean, one.other_mean)
        for name, one in measured
        if one is not None and isfinite(one.truth_mean) and isfinite(one.other_mean)
    ]
    return [_place(pairs, paper) for paper in PAPERS] if len(pairs) > 1 else []


def _place(pairs: list[tuple[str, float, float]], paper: Paper) -> Curves:
    values = [value for _, *both in pairs for value in both]
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    base, width = paper.height - paper.bottom, paper.width - paper.left - paper.right - 8

    def y(value: float) -> float:
        return paper.top + (high - value) / span * (base - paper.top - 6)

    steps = [
        Step(
            paper.left + 8 + index * width / (len(pairs) - 1),
            y(truth),
            y(other),
            f"step {index + 1}: torch {truth:.7g}, MindSpore {other:.7g}",
            index + 1,
        )
        for index, (_, truth, other) in enumerate(pairs)
    ]
    ticks = [low + span * index / _TICKS for index in range(_TICKS + 1)]
    every = -(-len(steps) // _MOST_LABELS[paper.kind])
    return Curves(paper, [(y(value), f"{value:.4g}") for value in ticks], steps, steps[::every])
