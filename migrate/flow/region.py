"""What goes into a run of statements, what comes out, and what may change its place.

Asked by the planner of training steps: the statements of a step become a function, whose arguments
are the inputs and whose results are the outputs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from migrate.flow.answer import Verdict, no, unknown, yes
from migrate.flow.events import Definition, free_reads, heads
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow.function import FunctionFlow


def points_in(flow: FunctionFlow, statements: Iterable[ast.stmt]) -> list[int]:
    """The program points of the statements and of all that stand in them."""
    inside = {node for statement in statements for node in all_nodes(statement)}
    return [p.index for p in flow.cfg.points[2:] if p.statement in inside]


def region_inputs(
    flow: FunctionFlow, statements: Sequence[ast.stmt], *, moved: Sequence[ast.stmt] = ()
) -> list[str]:
    """Names that the statements read as something else has left them, in the order of reading:
    code in front, code between them, or their own previous round. What is moved away binds nothing.
    """
    inside = set(points_in(flow, statements))
    found: dict[str, None] = {}
    if not statements:
        return []
    bound = _surely_bound(flow, statements[0], inside, set(points_in(flow, moved)))
    for index in sorted(inside):
        for name in flow.cfg.points[index].reads:
            if name.id not in bound.get(index, ()) and _enters(flow, name, statements[0], inside):
                found.setdefault(name.id)
    return list(found)


def _enters(flow: FunctionFlow, name: ast.Name, first: ast.stmt, inside: set[int]) -> bool:
    """Some value that the read may see was not bound on the way through the statements."""
    definitions = flow.defuse.reaching(name)
    if not definitions:
        return True
    before = flow.defuse.reaching_at(first, name.id)
    return any(d in before or _point_of(flow, d) not in inside for d in definitions)


def _surely_bound(
    flow: FunctionFlow, first: ast.stmt, inside: set[int], moved: set[int], *, leave: bool = True
) -> dict[int, frozenset[str]]:
    """For each point on a way from the first statement, what the statements have bound there in
    this round, whichever way was taken; with `leave`, also behind them.
    """
    points = flow.cfg.points
    barrier = {p.index for loop in flow.cfg.loops_of(first) for p in flow.cfg.points_of(loop)}
    start = flow.cfg.points_of(first)[0].index
    state: dict[int, frozenset[str]] = {start: frozenset()}
    pending = [start]
    while pending:
        index = pending.pop()
        after = state[index]
        names = frozenset(d.name for d in points[index].definitions if d.kind != "delete")
        gone = frozenset(d.name for d in points[index].definitions) - names
        if index in inside:
            after = after - gone | names
        elif index not in moved:
            after = after - gone - names
        ahead = points[index].after - barrier
        for following in ahead if leave else ahead & inside:
            old = state.get(following)
            new = after if old is None else old & after
            if new != old:
                state[following] = new
                pending.append(following)
    return state


def surely_binds(flow: FunctionFlow, statement: ast.stmt) -> set[str]:
    """Names that have another value behind the statement, whichever way it goes."""
    if not flow.cfg.has(statement):
        return set()
    inside = set(points_in(flow, [statement]))
    state = _surely_bound(flow, statement, inside, set(), leave=False)
    ends: list[frozenset[str]] = []
    for index in inside & state.keys():
        if isinstance(flow.cfg.points[index].statement, ast.Raise):
            continue  # `else: raise ValueError(kind)`: there is no "behind" on that way
        leaving = [i for i in flow.cfg.points[index].after if i not in inside]
        if any(not _is_jump(flow, i) for i in leaving):
            names = {d.name for d in flow.cfg.points[index].definitions if d.kind != "delete"}
            ends.append(state[index] | names)
    return set(frozenset.intersection(*ends)) if ends else set()


def _is_jump(flow: FunctionFlow, index: int) -> bool:
    """Out of the ordinary order: to a handler."""
    return isinstance(flow.cfg.points[index].statement, ast.ExceptHandler)


def region_outputs(
    flow: FunctionFlow, statements: Sequence[ast.stmt], *, besides: Sequence[ast.stmt] = ()
) -> list[str]:
    """Names bound inside whose values are read outside, in the order of their binding; reads of
    the statements `besides` do not count.
    """
    inside = set(points_in(flow, statements))
    quiet = inside | set(points_in(flow, besides))
    lasting = _lasting(flow, inside)
    found: dict[str, None] = {}
    for index in sorted(inside):
        for definition in flow.cfg.points[index].definitions:
            reads = flow.defuse.uses(definition)
            if definition.name in lasting or any(not _read_in(flow, r, quiet) for r in reads):
                found.setdefault(definition.name)
    return list(found)


def _lasting(flow: FunctionFlow, inside: set[int]) -> set[str]:
    """Names that functions around the region read whenever they are called, and global ones."""
    found: set[str] = set()
    for point in flow.cfg.points[2:]:
        statement = point.statement
        if isinstance(statement, (ast.Global, ast.Nonlocal)):
            found |= set(statement.names)
        elif point.index not in inside:
            for head in heads(statement):
                for node in all_nodes(head):
                    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                        found |= {name.id for name in free_reads(node)}
    return found


def region_carried(flow: FunctionFlow, statements: Sequence[ast.stmt]) -> set[str]:
    """Names whose values the statements leave for their own next round."""
    inside = set(points_in(flow, statements))
    names = {d.name for index in inside for d in flow.cfg.points[index].definitions}
    return {
        name
        for name in names
        if any(_point_of(flow, d) in inside for d in flow.defuse.reaching_at(statements[0], name))
    }


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


def _point_of(flow: FunctionFlow, definition: Definition) -> int:
    points = flow.cfg.points_of(definition.statement)
    return points[-1].index if points else flow.cfg.entry


def _read_in(flow: FunctionFlow, read: ast.Name, inside: set[int]) -> bool:
    return any(read in flow.cfg.points[index].reads for index in inside)
