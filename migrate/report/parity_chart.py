"""The error of every layer along the network as a drawing, with the noise floor drawn in."""

from __future__ import annotations

from html import escape
from math import ceil, floor, inf, isfinite, log10

from migrate.parity.compare import Layer
from migrate.parity.tolerance import Judgement

_WIDTH, _HEIGHT = 1120, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 12, 14, 34
_LEAST = 1e-9


def relative_error(judgement: Judgement) -> float:
    """What is drawn: the relative Euclidean distance; a wrong shape or a NaN is off the chart."""
    if judgement.measures is None or judgement.measures.nonfinite_mismatches:
        return inf if not judgement.ok else 0.0
    return judgement.measures.relative_euclidean


def draw(layers: list[Layer], factor: float, culprit: str) -> str:
    """An inline SVG: one point a call, in order of execution, on a logarithmic scale."""
    shown = [
        (layer, relative_error(layer.worst), layer.worst.floor) for layer in layers if layer.path
    ]
    if not shown:
        return ""
    finite = [e for _, e, _ in shown if isfinite(e)] + [f * factor for _, _, f in shown]
    top = 10.0 ** ceil(log10(max([*finite, 1e-5])))
    low = 10.0 ** floor(log10(max(_LEAST, min([v for v in finite if v > 0] or [_LEAST]))))
    low = min(low, top / 100)

    def x(index: int) -> float:
        return _LEFT + (index + 0.5) * (_WIDTH - _LEFT - _RIGHT) / len(shown)

    def y(value: float) -> float:
        inside = min(max(value, low), top)
        share = (log10(inside) - log10(low)) / (log10(top) - log10(low))
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    parts = [*_axis(low, top, y)]
    bounds = [(x(i), y(f * factor)) for i, (_, _, f) in enumerate(shown) if f]
    floors = [(x(i), y(f)) for i, (_, _, f) in enumerate(shown) if f]
    if bounds:
        base = _HEIGHT - _BOTTOM
        area = f"{_points(bounds)} {bounds[-1][0]:.1f},{base} {bounds[0][0]:.1f},{base}"
        parts.append(f'<polygon class="allowed" points="{area}"/>')
        parts.append(f'<polyline class="floor" points="{_points(floors)}"/>')
    for index, (layer, error, noise) in enumerate(shown):
        kind = "good" if layer.outputs_agree else "bad"
        first = layer.path == culprit and not layer.outputs_agree
        label = f"{layer.name}: {_number(error)}, floor {_number(noise)}"
        parts.append(
            f'<circle class="{kind}" cx="{x(index):.1f}" cy="{y(error):.1f}" '
            f'r="{6 if first else 3.2}">'
            f"<title>{escape(label)}</title></circle>"
        )
        if first:
            anchor = "end" if x(index) > _WIDTH / 2 else "start"
            shift = -10 if anchor == "end" else 10
            parts.append(
                f'<text class="first" x="{x(index) + shift:.1f}" y="{y(error) + 22:.1f}" '
                f'text-anchor="{anchor}">{escape(layer.path)}</text>'
            )
            culprit = "\0"  # only its first call is labelled
    parts.append(_legend(factor))
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="error of every layer">{"".join(parts)}</svg>'
    )


def _axis(low: float, top: float, y: object) -> list[str]:
    parts = []
    place = y if callable(y) else float
    first, last = round(log10(low)), round(log10(top))
    for power in range(first, last + 1, max(1, (last - first) // 8)):
        height = place(10.0**power)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" '
            f'y1="{height:.1f}" y2="{height:.1f}"/>'
            f'<text class="tick" x="{_LEFT - 8}" y="{height + 4:.1f}" '
            f'text-anchor="end">1e{power}</text>'
        )
    return parts


def _legend(factor: float) -> str:
    height = _HEIGHT - 8
    return (
        f'<text class="tick" x="{_LEFT}" y="{height}">relative error of each call, in order of '
        f"execution; line: noise floor; shaded: allowed ({factor:g} times the floor)</text>"
    )


def _points(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{px:.1f},{py:.1f}" for px, py in points)


def _number(value: float) -> str:
    return f"{value:.2e}" if isfinite(value) else "not comparable"
