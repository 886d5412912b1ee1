"""`ms-migrate port --explain-passes`: what runs, in which order, and why."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from migrate.pipeline.declare import UNITS, Pass
from migrate.pipeline.discover import all_passes

_WIDTH = 100


def explain_passes() -> str:
    """The passes by phase, each with its purpose and the reasons for its place."""
    lines: list[str] = []
    phase = ""
    for one in all_passes():
        if one.phase != phase:
            phase = one.phase
            lines += ["", phase] if lines else [phase]
        lines += _described(one)
    return "\n".join(lines) + "\n"


def _described(one: Pass) -> Iterable[str]:
    yield f"  {one.name} ({UNITS[one.unit]})"
    yield from _wrapped(one.why)
    if one.needs:
        yield from _wrapped(f"needs: {', '.join(one.needs)}")
    for name, reason in one.after.items():
        yield from _wrapped(f"after {name}: {reason}")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 8)
