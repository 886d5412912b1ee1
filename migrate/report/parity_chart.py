"""The error of every tensor along the network as a drawing, with the noise floor drawn in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from itertools import groupby
from math import ceil, floor, inf, isfinite, log10

from migrate.parity.judge.tolerance import Judgement

_WIDTH, _HEIGHT = 1160, 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 8, 12, 30
_LEAST = 1e-9
_TOP_OF_FLOORS = 1e-2
_LETTER = 6.3  # the width of a letter, about


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


def draw(points: list[Point], factor: float, first: str, *, fixed: bool, what: str) -> str:
    """A figure with one point for each tensor, in order, on a logarithmic scale."""
    if not points:
        return ""
    scale = _Scale(points, 1.0 if fixed else factor)
    parts = [*_axis(scale), *_bands(points, scale)]
    if not fixed:
        parts += _floors(points, factor, scale)
    labelled = False
    size = max(1.7, min(3.4, 900 / len(points)))
    for index, point in enumerate(points):
        kind = "good" if point.judgement.ok else "bad"
        here = point.name == first and not point.judgement.ok and not labelled
        x, y = scale.x(index), scale.y(point.error)
        parts.append(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{6 if here else size:.1f}" '
            f'tabindex="0" data-key="{escape(point.key)}">'
            f"<title>{escape(_label(point))}</title></circle>"
        )
        if here:
            labelled = True
            end = x > _WIDTH / 2
            parts.append(
                f'<text class="first" x="{x + (-10 if end else 10):.1f}" y="{y + 22:.1f}" '
                f'text-anchor="{"end" if end else "start"}">{escape(point.name)}</text>'
            )
    legend = f"{what}: relative error of each, in order"
    if not fixed:
        legend += f"; line: noise floor; shaded: allowed ({factor:g} times the floor)"
    return (
        f'<figure><div class="paper"><svg viewBox="0 0 {_WIDTH} {_HEIGHT + 14}" role="img" '
        f'aria-label="{escape(what)}">{"".join(parts)}{_titles()}</svg></div>'
        f'<div class="said dim">{escape(legend)}</div></figure>'
    )


def _titles() -> str:
    """What the axes are."""
    middle = (_HEIGHT - _BOTTOM + _TOP) / 2
    return (
        f'<text class="axis" transform="rotate(-90)" x="{-middle:.1f}" y="14" '
        f'text-anchor="middle">relative error</text>'
        f'<text class="axis" x="{_WIDTH - _RIGHT}" y="{_HEIGHT + 8}" text-anchor="end">'
        "in the order of the network</text>"
    )


def _plain(point: Point) -> bool:
    """Whether its error says something: that of a value which is nearly zero does not."""
    return isfinite(point.error) and (not point.judgement.ok or point.judgement.floor < 1)


class _Scale:
    """Where a number is on the paper."""

    def __init__(self, points: list[Point], factor: float) -> None:
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

    def x(self, index: float) -> float:
        return _LEFT + (index + 0.5) * (_WIDTH - _LEFT - _RIGHT) / self.count

    def y(self, value: float) -> float:
        inside = min(max(value, self.low), self.top)
        share = (log10(inside) - log10(self.low)) / (log10(self.top) - log10(self.low))
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def _axis(scale: _Scale) -> list[str]:
    parts = []
    first, last = round(log10(scale.low)), round(log10(scale.top))
    for power in range(first, last + 1, max(1, (last - first) // 8)):
        height = scale.y(10.0**power)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" '
            f'y1="{height:.1f}" y2="{height:.1f}"/>'
            f'<text x="{_LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">1e{power}</text>'
        )
    return parts


def _bands(points: list[Point], scale: _Scale) -> list[str]:
    """The parts of the network under the points; a name that has no room is left out."""
    parts: list[str] = []
    start, free = 0, 0.0
    for part, group in groupby(points, key=lambda point: point.part):
        count = len(list(group))
        left, right = scale.x(start - 0.5), scale.x(start + count - 0.5)
        if start and count > 1:
            parts.append(
                f'<line class="part" x1="{left:.1f}" x2="{left:.1f}" y1="{_TOP}" '
                f'y2="{_HEIGHT - _BOTTOM}"/>'
            )
        width = _LETTER * len(part)
        if width < right - left + 12 and (left + right - width) / 2 > free:
            middle = min((left + right) / 2, _WIDTH - width / 2)
            parts.append(
                f'<text x="{middle:.1f}" y="{_HEIGHT - 10}" text-anchor="middle">'
                f"{escape(part)}</text>"
            )
            free = (left + right + width) / 2 + 6
        start += count
    return parts


def _floors(points: list[Point], factor: float, scale: _Scale) -> list[str]:
    known = [(i, p.judgement.floor) for i, p in enumerate(points) if p.judgement.floor]
    if not known:
        return []
    line: Callable[[float], str] = lambda by: " ".join(  # noqa: E731
        f"{scale.x(i):.1f},{scale.y(f * by):.1f}" for i, f in known
    )
    base = _HEIGHT - _BOTTOM
    area = f"{line(factor)} {scale.x(known[-1][0]):.1f},{base} {scale.x(known[0][0]):.1f},{base}"
    return [
        f'<polygon class="allowed" points="{area}"/>',
        f'<polyline class="floor" points="{line(1.0)}"/>',
    ]


def _label(point: Point) -> str:
    noise = f", floor {point.judgement.floor:.2e}" if point.judgement.floor else ""
    error = f"{point.error:.2e}" if isfinite(point.error) else point.judgement.problem
    ratio = point.judgement.ratio
    times = f" ({ratio:.3g} times the floor)" if isfinite(ratio) and noise else ""
    return f"{point.name}: {error}{noise}{times}"
