"""Loops and the statements in them: what runs before, inside and behind the step."""

from __future__ import annotations

import ast

from migrate.plan.names import (
    binds,
    blocks_of,
    reads,
    statements_below,
)

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def bound_anew(loop: ast.stmt, region: list[ast.stmt], moved: set[int]) -> set[str]:
    """Names that every round gives a value before the region; others it takes from the last one."""
    names: set[str] = set()
    for _, statement in statements_below([loop]):
        if id(statement) in moved or not region or statement.lineno >= region[0].lineno:
            continue
        if isinstance(statement, ast.For):
            names |= binds(statement.target)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            names |= binds(statement)
    return names


def behind(loop: ast.stmt, body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that come after the loop, those inside of others left out."""
    end = loop.end_lineno or loop.lineno
    found: list[ast.stmt] = []
    last = end
    for _, statement in statements_below(body):
        if statement.lineno > last:
            found.append(statement)
            last = statement.end_lineno or statement.lineno
    return found


def own_reads(statement: ast.stmt) -> set[str]:
    """What the head of a compound statement reads; its body is looked at statement by statement."""
    heads = [getattr(statement, name, None) for name in ("test", "iter", "items", "value")]
    found: set[str] = set()
    for head in heads:
        for node in head if isinstance(head, list) else [head]:
            if isinstance(node, ast.AST):
                found |= reads(node)
    return found


def contains(statement: ast.stmt, moved: set[int]) -> bool:
    return any(id(node) in moved for node in ast.walk(statement))


def outermost_loop(body: list[ast.stmt], target: ast.stmt) -> ast.stmt | None:
    for statement in body:
        if any(node is target for node in ast.walk(statement)):
            if isinstance(statement, _LOOPS):
                return statement
            for block in _inner(statement):
                found = outermost_loop(block, target)
                if found is not None:
                    return found
    return None


def innermost_loop(body: list[ast.stmt], target: ast.stmt) -> ast.stmt | None:
    """The loop that the target is directly in."""
    found, loop = None, outermost_loop(body, target)
    while loop is not None:
        found, loop = loop, outermost_loop(loop.body, target)  # type: ignore[attr-defined]
    return found


def step_loop(body: list[ast.stmt], target: ast.stmt, code: set[str]) -> ast.stmt | None:
    """The outermost loop around the step that does not itself make what the step is built of.

    `for fold in folds: model = Net(); ...`: each fold has a forward function of its own.
    """
    loop = outermost_loop(body, target)
    while loop is not None and binds(loop) & code:
        loop = outermost_loop(getattr(loop, "body", []), target)
    return loop


def loop_bodies(loop: ast.stmt) -> list[list[ast.stmt]]:
    """The bodies of a loop and of the loops directly in it."""
    bodies = []
    pending = [loop]
    while pending:
        current = pending.pop()
        body: list[ast.stmt] = getattr(current, "body", [])
        bodies.append(body)
        pending += [statement for statement in body if isinstance(statement, _LOOPS)]
    return bodies


def _inner(statement: ast.stmt) -> list[list[ast.stmt]]:
    return [] if isinstance(statement, ast.FunctionDef | ast.ClassDef) else blocks_of(statement)


def bound_before(body: list[ast.stmt], anchor: ast.stmt) -> set[str]:
    """In a function without a loop: everything bound before, parameters included, may be data."""
    names: set[str] = set()
    for _, statement in statements_below(body):
        if statement is anchor:
            break
        inner = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        names |= {statement.name} if inner else binds(statement)  # type: ignore[attr-defined]
    return names
