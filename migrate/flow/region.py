"""What goes into a run of statements, what comes out, and what may change its place.

Asked by the planner of training steps: the statements of a step become a function, whose arguments
are the inputs and whose results are the outputs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from migrate.flow.answer import Verdict, no, unknown, yes
from migrate.flow.events import Definition

if TYPE_CHECKING:
    from migrate.flow.function import FunctionFlow


def points_in(flow: FunctionFlow, statements: Iterable[ast.stmt]) -> list[int]:
    """The program points of the statements and of all that stand in them."""
    inside = {node for statement in statements for node in ast.walk(statement)}
    return [p.index for p in flow.cfg.points[2:] if p.statement in inside]


def region_inputs(flow: FunctionFlow, statements: Sequence[ast.stmt]) -> list[str]:
    """Names whose values enter from outside, in the order of their first read there."""
    inside = set(points_in(flow, statements))
    found: dict[str, None] = {}
    for index in sorted(inside):
        for name in flow.cfg.points[index].reads:
            definitions = flow.defuse.reaching(name)
            if not definitions or any(not _is_in(flow, d, inside) for d in definitions):
                found.setdefault(name.id)
    return list(found)


def region_outputs(flow: FunctionFlow, statements: Sequence[ast.stmt]) -> list[str]:
    """Names bound inside whose values are read outside, in the order of their binding."""
    inside = set(points_in(flow, statements))
    found: dict[str, None] = {}
    for index in sorted(inside):
        for definition in flow.cfg.points[index].definitions:
            reads = flow.defuse.uses(definition)
            if definition.name in flow.defuse.captured or any(
                not _read_in(flow, read, inside) for read in reads
            ):
                found.setdefault(definition.name)
    return list(found)


def region_carried(flow: FunctionFlow, loop: ast.stmt, statements: Sequence[ast.stmt]) -> list[str]:
    """Names that the region reads as the previous round of the loop left them."""
    inside = set(points_in(flow, statements))
    round_ = set(points_in(flow, [loop]))
    found: dict[str, None] = {}
    for index in sorted(inside):
        for name in flow.cfg.points[index].reads:
            for definition in flow.defuse.reaching(name):
                at = _point_of(flow, definition)
                if at in round_ and not _reaches_without(flow, at, index, _head(flow, loop)):
                    found.setdefault(name.id)
    return list(found)


def may_move(
    flow: FunctionFlow, statement: ast.stmt, behind: ast.stmt | Sequence[ast.stmt]
) -> Verdict:
    """Would the statement read the same values and be read by the same reads, moved behind others?

    Only names are judged: ask `aliases` about tensors that the others change in place.
    """
    others = [behind] if isinstance(behind, ast.stmt) else list(behind)
    if not others:
        return yes()
    if not flow.cfg.has(statement) or not flow.cfg.has(others[-1]):
        return unknown("the statement is not of this function")
    inside = set(points_in(flow, others))
    own = set(points_in(flow, [statement]))
    for index in own:
        for name in flow.cfg.points[index].reads:
            bound = {d.name for other in inside for d in flow.cfg.points[other].definitions}
            if name.id in bound:
                return no(f"{name.id} has another value there")
        for definition in flow.cfg.points[index].definitions:
            for read in flow.defuse.uses(definition):
                if _read_in(flow, read, inside):
                    return no(f"{definition.name} is read on the way")
            if any(
                d.name == definition.name
                for other in inside
                for d in flow.cfg.points[other].definitions
            ):
                return no(f"{definition.name} is bound on the way")
    return yes()


def _is_in(flow: FunctionFlow, definition: Definition, inside: set[int]) -> bool:
    return _point_of(flow, definition) in inside


def _point_of(flow: FunctionFlow, definition: Definition) -> int:
    points = flow.cfg.points_of(definition.statement)
    return points[-1].index if points else flow.cfg.entry


def _read_in(flow: FunctionFlow, read: ast.Name, inside: set[int]) -> bool:
    return any(read in flow.cfg.points[index].reads for index in inside)


def _head(flow: FunctionFlow, loop: ast.stmt) -> int:
    return flow.cfg.points_of(loop)[-1].index


def _reaches_without(flow: FunctionFlow, start: int, end: int, barrier: int) -> bool:
    """A way from one point to another that does not begin the next round."""
    pending = list(flow.cfg.points[start].after)
    seen: set[int] = set()
    while pending:
        index = pending.pop()
        if index == end:
            return True
        if index in seen or index == barrier:
            continue
        seen.add(index)
        pending += flow.cfg.points[index].after
    return False
