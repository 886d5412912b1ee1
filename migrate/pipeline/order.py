"""The order of passes: by phase, then by the declared reasons, then by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from migrate.pipeline.declare import FACTS, UNITS, Pass

PHASES = ("resolve", "flow", "style", "lower", "plan", "rewrite", "graph_mode", "tidy", "emit")


class OrderError(Exception):
    """Declarations that cannot be put in order."""


def ordered(passes: Iterable[Pass], choose: Callable[[list[str]], str] = min) -> list[Pass]:
    """The passes in an order that satisfies their declarations.

    `choose` picks the next of those that are ready: the first by name, unless a test permutes them.
    """
    by_name = {one.name: one for one in passes}
    for one in by_name.values():
        _check(one, by_name)
    result: list[Pass] = []
    for phase in PHASES:
        waiting = {name: one for name, one in by_name.items() if one.phase == phase}
        while waiting:
            ready = sorted(
                name for name, one in waiting.items() if not any(n in waiting for n in one.after)
            )
            if not ready:
                raise OrderError(f"the order of these passes is circular: {', '.join(waiting)}")
            result.append(waiting.pop(choose(ready)))
    return result


def _check(one: Pass, known: dict[str, Pass]) -> None:
    if one.phase not in PHASES:
        raise OrderError(f"{one.name}: there is no phase {one.phase}")
    if one.unit not in UNITS:
        raise OrderError(f"{one.name}: there is no unit {one.unit}")
    for fact in one.needs:
        if fact not in FACTS:
            raise OrderError(f"{one.name} needs {fact}, which no phase provides")
        if PHASES.index(FACTS[fact][0]) > PHASES.index(one.phase):
            raise OrderError(f"{one.name} ({one.phase}) needs {fact}, which comes later")
    for name, reason in one.after.items():
        if name not in known:
            raise OrderError(f"{one.name} runs after {name}, which is not a pass")
        if not reason:
            raise OrderError(f"{one.name} runs after {name} without a reason")
        if PHASES.index(known[name].phase) > PHASES.index(one.phase):
            raise OrderError(f"{one.name} ({one.phase}) cannot run after {name}")
