"""The losses of both frameworks, step by step, as a drawing."""

from __future__ import annotations

from html import escape
from math import isfinite

from migrate.parity.judge.compare import Comparison

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 1160, 260, 90, 34


def draw(comparison: Comparison) -> str:
    """Two curves; nothing for a single step."""
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
    if len(pairs) < 2:
        return ""
    values = [value for _, *both in pairs for value in both]
    low, high = min(values), max(values)
    span = (high - low) or 1.0

    def x(index: int) -> float:
        return _LEFT + index * (_WIDTH - _LEFT - 20) / (len(pairs) - 1)

    def y(value: float) -> float:
        return 14 + (high - value) / span * (_HEIGHT - _BOTTOM - 14)

    ours = " ".join(f"{x(i):.1f},{y(pair[1]):.1f}" for i, pair in enumerate(pairs))
    theirs = " ".join(f"{x(i):.1f},{y(pair[2]):.1f}" for i, pair in enumerate(pairs))
    marks = "".join(
        f'<circle class="good" cx="{x(i):.1f}" cy="{y(truth):.1f}" r="4" tabindex="0" data-key="">'
        f"<title>{escape(name)}: torch {truth:.7g}, MindSpore {other:.7g}</title></circle>"
        for i, (name, truth, other) in enumerate(pairs)
    )
    return (
        f'<figure><div class="paper"><svg viewBox="0 0 {_WIDTH} {_HEIGHT + 8}" role="img" '
        f'aria-label="losses of both frameworks">'
        f'<text x="{_LEFT - 8}" y="22" text-anchor="end">{high:.4g}</text>'
        f'<text x="{_LEFT - 8}" y="{_HEIGHT - _BOTTOM}" text-anchor="end">{low:.4g}</text>'
        f'<polyline class="ours" points="{ours}"/><polyline class="theirs" points="{theirs}"/>'
        f'{marks}<text x="{_WIDTH - 20}" y="{_HEIGHT}" text-anchor="end">step</text></svg></div>'
        f'<div class="said dim">loss: line torch, dashes MindSpore ({comparison.mode} mode)</div>'
        "</figure>"
    )
