"""The shape of a body: its blocks, the statements in them, the loops around a statement.

Inner functions and classes are bodies of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate.syntax.ast_index import all_nodes, child_nodes

Loop = ast.For | ast.AsyncFor | ast.While
Home = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef  # where statements run
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def blocks_of(node: ast.AST) -> list[list[ast.stmt]]:
    """The statement lists directly inside a statement."""
    found = []
    for field in ("body", "orelse", "finalbody"):
        value = getattr(node, field, None)
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            found.append(value)
    found += [handler.body for handler in getattr(node, "handlers", ())]
    found += [case.body for case in getattr(node, "cases", ())]
    return found


def statements_below(body: list[ast.stmt]) -> list[tuple[list[ast.stmt], ast.stmt]]:
    """All statements of a body in source order, each with the block that it stands in."""
    found: list[tuple[list[ast.stmt], ast.stmt]] = []
    for statement in body:
        found.append((body, statement))
        if not isinstance(statement, _SCOPES):
            for block in blocks_of(statement):
                found += statements_below(block)
    return found


def own_nodes(statement: ast.AST) -> list[ast.AST]:
    """What a statement evaluates itself, without the statements in its blocks."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        found.append(node)
        pending += [c for c in child_nodes(node) if not isinstance(c, ast.stmt)]
    return found


def own_calls(body: list[ast.stmt]) -> list[ast.Call]:
    """The calls of a body, those of inner functions left out."""
    found: dict[ast.Call, None] = {}
    for _, statement in statements_below(body):
        if not isinstance(statement, _SCOPES):
            found |= {node: None for node in all_nodes(statement) if isinstance(node, ast.Call)}
    return list(found)


def loops_around(body: Sequence[ast.stmt], target: ast.AST) -> list[Loop]:
    """The loops that a statement stands in, the outermost first."""
    for statement in body:
        if isinstance(statement, _SCOPES) or target not in set(all_nodes(statement)):
            continue
        if statement is target:
            return []
        found: list[Loop] = [statement] if isinstance(statement, Loop) else []
        for block in blocks_of(statement):
            found += loops_around(block, target)
        return found
    return []


def outermost_loop(body: Sequence[ast.stmt], target: ast.AST) -> Loop | None:
    return next(iter(loops_around(body, target)), None)


def innermost_loop(body: Sequence[ast.stmt], target: ast.AST) -> Loop | None:
    return next(reversed(loops_around(body, target)), None)
