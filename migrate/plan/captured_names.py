"""Functions of the training function that read its variables when they are called.

    scale = 1.0
    def penalty(t):
        return (t * scale).mean()
    loss = penalty(out)
    scale = 3.0
    loss = loss + penalty(out)

The forward function has variables of its own, which `penalty` does not see; and what is data stands
in front of it, before the first call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrate.flow.function import FunctionFlow
from migrate.flow.names import reads
from migrate.pipeline.refusal import Refusal
from migrate.syntax.ast_index import all_nodes

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def refuse_captures(
    region: Sequence[ast.stmt], block: Sequence[ast.stmt], last: ast.stmt, flow: FunctionFlow
) -> None:
    """Refuse a region of a block that calls an inner function, one of whose variables changes in
    the region or between two calls, in front of the statement `last`.
    """
    captured = dict(_captured(flow.node))
    if not captured or not region or region[0] not in block or last not in block:
        return
    called: set[str] = set()
    bound: set[str] = set()  # in the region, so far
    for statement in block[block.index(region[0]) : block.index(last)]:
        inside = statement in region
        now = _called(statement, captured) if inside else set()
        changed = flow.names.changes(statement)
        bound |= changed if inside else set()
        for name in sorted(called | now):
            if found := captured[name] & (changed | bound if name in now else changed):
                raise Refusal(
                    f"{name}() reads {min(found)}, which changes between the parts of the loss",
                    f"pass {min(found)} to {name}() as an argument",
                    "MS408",
                )
        called |= now


def _captured(function: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """Each inner function by its name, with the names that it looks up around it."""
    for node in all_nodes(function):
        if node is function:
            continue
        if isinstance(node, _FUNCTIONS):
            yield node.name, reads(node) - {node.name}
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, reads(node.value)


def _called(statement: ast.stmt, captured: dict[str, set[str]]) -> set[str]:
    """The inner functions that a statement calls, and those that they call."""
    found: set[str] = set()
    pending = [name for name in reads(statement) if name in captured]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += [other for other in captured[name] if other in captured]
    return found
