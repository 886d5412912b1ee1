"""Which names a piece of code reads and binds."""

from __future__ import annotations

import ast
from collections.abc import Iterable

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def reads(node: ast.AST) -> set[str]:
    """Names that are looked at."""
    found = {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    # x += 1 looks at x although its context says otherwise
    found |= {
        n.target.id
        for n in ast.walk(node)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }
    return found


def binds(node: ast.AST) -> set[str]:
    """Names that get a value."""
    found = {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    found |= {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    return found


def reads_before_binding(statements: Iterable[ast.stmt]) -> list[str]:
    """Names that the statements take from outside, in the order of their first use."""
    free: dict[str, None] = {}
    _scan(statements, set(), free)
    return list(free)


def _scan(statements: Iterable[ast.stmt], bound: set[str], free: dict[str, None]) -> None:
    """Follow the statements in order; what a branch binds counts as bound behind it."""
    for statement in statements:
        inner = [] if isinstance(statement, _SCOPES) else blocks_of(statement)
        if not inner:
            _look(statement, bound, free)
            bound |= binds(statement)
            continue
        for head in _heads(statement):
            _look(head, bound, free)
            bound |= binds(head)
        for block in inner:
            _scan(block, bound, free)


def _look(node: ast.AST, bound: set[str], free: dict[str, None]) -> None:
    names = sorted(reads(node) - bound, key=lambda name: _first_use(node, name))
    free |= dict.fromkeys(names)


def _heads(statement: ast.stmt) -> list[ast.AST]:
    """The expressions of a compound statement that stand in front of its blocks."""
    found: list[ast.AST] = []
    for field in ("test", "iter", "target", "items", "subject"):
        value = getattr(statement, field, None)
        found += value if isinstance(value, list) else [value] if value is not None else []
    return found


def _first_use(statement: ast.AST, name: str) -> tuple[int, int]:
    places = [
        (n.lineno, n.col_offset)
        for n in ast.walk(statement)
        if isinstance(n, ast.Name) and n.id == name
    ]
    return min(places, default=(0, 0))


def blocks_of(node: ast.AST) -> list[list[ast.stmt]]:
    """The statement lists directly inside a statement, those of inner functions left out."""
    found = []
    for field in ("body", "orelse", "finalbody"):
        value = getattr(node, field, None)
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            found.append(value)
    found += [handler.body for handler in getattr(node, "handlers", ())]
    found += [case.body for case in getattr(node, "cases", ())]
    return found


def statements_below(body: list[ast.stmt]) -> list[tuple[list[ast.stmt], ast.stmt]]:
    """All statements of a body with the list each stands in.

    Inner functions and classes are left out.
    """
    found: list[tuple[list[ast.stmt], ast.stmt]] = []
    for statement in body:
        found.append((body, statement))
        if not isinstance(statement, _SCOPES):
            for block in blocks_of(statement):
                found += statements_below(block)
    return found
