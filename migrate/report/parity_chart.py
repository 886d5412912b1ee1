"""The error of every tensor along the network, placed on paper; the template draws it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from math import ceil, floor, inf, isfinite, log10

from migrate.parity.judge.tolerance import Judgement

_LEAST = 1e-9
_TOP_OF_FLOORS = 1e-2
_LETTER = 6.6  # the width of a letter, about


@dataclass(frozen=True)
class Paper:
    """A drawing's size; letters keep theirs, so that a phone has a drawing of its own."""

    kind: str
    width: int
    height: int
    left: int = 76
    right: int = 8
    top: int = 12
    bottom: int = 44


PAPERS = (Paper("wide", 1160, 340), Paper("narrow", 360, 280, left=58))


@dataclass(frozen=True)
class Point:
    """One tensor to draw: its name, the part of the network it is in, and how it was judged."""

    key: str
    name: str
    part: str
    judgement: Judgement

    @property
    def error(self) -> float:
        """The relative Euclidean distance; a wrong shape or a NaN is off the chart."""
        measures = self.judgement.measures
        if measures is None or measures.nonfinite_mismatches:
            return inf if not self.judgement.ok else 0.0
        return measures.relative_euclidean

    @property
    def label(self) -> str:
        noise = f", floor {self.judgement.floor:.2e}" if self.judgement.floor else ""
        error = f"{self.error:.2e}" if isfinite(self.error) else self.judgement.problem
        ratio = self.judgement.ratio
        times = f" ({ratio:.3g} times the floor)" if isfinite(ratio) and noise else ""
        return f"{self.name}: {error}{noise}{times}"


@dataclass(frozen=True)
class Dot:
    """A point on paper."""

    x: float
    y: float
    radius: float
    point: Point
    first: bool


@dataclass
class Drawing:
    """One paper with everything in its place."""

    paper: Paper
    ticks: list[tuple[float, str]] = field(default_factory=list)
    borders: list[float] = field(default_factory=list)
    parts: list[tuple[float, str]] = field(default_factory=list)
    floor: str = ""
    allowed: str = ""
    dots: list[Dot] = field(default_factory=list)


@dataclass
class Chart:
    """A heading, a sentence that explains the drawing, and the drawing on each paper."""

    title: str
    what: str
    legend: str
    drawings: list[Drawing]


def chart(
    title: str, what: str, points: list[Point], factor: float, first: str, *, fixed: bool
) -> Chart | None:
    """One point for each tensor, in order, on a logarithmic scale."""
    if not points:
        return None
    legend = f"{what}: relative error of each, in order"
    if not fixed:
        legend += f"; line: noise floor; shaded: allowed ({factor:g} times the floor)"
    drawings = [_draw(points, factor, first, paper, fixed=fixed) for paper in PAPERS]
    return Chart(title, what, legend, drawings)


def _draw(points: list[Point], factor: float, first: str, paper: Paper, *, fixed: bool) -> Drawing:
    scale = _Scale(points, 1.0 if fixed else factor, paper)
    drawing = Drawing(paper, _ticks(scale))
    _place_parts(points, scale, drawing)
    if not fixed:
        _place_floors(points, factor, scale, drawing)
    culprit = next((p for p in points if p.name == first and not p.judgement.ok), None)
    size = max(1.7, min(3.4, 0.78 * paper.width / len(points)))
    for index, point in enumerate(points):
        here = point is culprit
        x, y = scale.x(index), scale.y(point.error)
        drawing.dots.append(Dot(x, y, 6 if here else size, point, here))
    return drawing


def _plain(point: Point) -> bool:
    """Whether its error says something: that of a value which is nearly zero does not."""
    return isfinite(point.error) and (not point.judgement.ok or point.judgement.floor < 1)


class _Scale:
    """Where a number is on the paper."""

    def __init__(self, points: list[Point], factor: float, paper: Paper) -> None:
        floors = [point.judgement.floor for point in points]
        errors = [point.error for point in points if isfinite(point.error)]
        # A gradient that is zero (a bias before BatchNorm) has a floor of any size, and would
        # flatten all others: no floor lifts the top of the paper far above the errors.
        highest = max(_TOP_OF_FLOORS, 10 * max((p.error for p in points if _plain(p)), default=0))
        finite = [min(value, highest) for value in (*errors, *(f * factor for f in floors))]
        self.top = 10.0 ** ceil(log10(max([*finite, 1e-6])))
        least = min([v for v in [*finite, *floors] if v > _LEAST] or [1e-8])
        self.low = min(10.0 ** floor(log10(least)), self.top / 100)
        self.count = len(points)
        self.paper = paper

    def x(self, index: float) -> float:
        paper = self.paper
        return paper.left + (index + 0.5) * (paper.width - paper.left - paper.right) / self.count

    def y(self, value: float) -> float:
        inside = min(max(value, self.low), self.top)
        share = (log10(inside) - log10(self.low)) / (log10(self.top) - log10(self.low))
        base = self.paper.height - self.paper.bottom
        return base - share * (base - self.paper.top)


def _ticks(scale: _Scale) -> list[tuple[float, str]]:
    first, last = round(log10(scale.low)), round(log10(scale.top))
    powers = range(first, last + 1, max(1, (last - first) // 8))
    return [(scale.y(10.0**power), f"1e{power}") for power in powers]


def _place_parts(points: list[Point], scale: _Scale, drawing: Drawing) -> None:
    """The parts of the network under the points; a name that has no room is left out."""
    start, free = 0, 0.0
    for part, group in groupby(points, key=lambda point: point.part):
        count = len(list(group))
        left, right = scale.x(start - 0.5), scale.x(start + count - 0.5)
        if start and count > 1:
            drawing.borders.append(left)
        width = _LETTER * len(part)
        middle = min((left + right) / 2, scale.paper.width - width / 2)
        if width < right - left + 12 and middle - width / 2 > free:
            drawing.parts.append((middle, part))
            free = middle + width / 2 + 6
        start += count


def _place_floors(points: list[Point], factor: float, scale: _Scale, drawing: Drawing) -> None:
    known = [(i, p.judgement.floor) for i, p in enumerate(points) if p.judgement.floor]
    if not known:
        return

    def line(by: float) -> str:
        return " ".join(f"{scale.x(i):.1f},{scale.y(f * by):.1f}" for i, f in known)

    base = scale.paper.height - scale.paper.bottom
    ends = f"{scale.x(known[-1][0]):.1f},{base} {scale.x(known[0][0]):.1f},{base}"
    drawing.floor, drawing.allowed = line(1.0), f"{line(factor)} {ends}"
