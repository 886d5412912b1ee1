"""Which names a piece of code reads and binds."""

from __future__ import annotations

import ast
from collections.abc import Iterable

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def reads(node: ast.AST) -> set[str]:
    """Names that are looked at; those of a comprehension or a lambda are its own."""
    own: set[str] = set()
    if isinstance(node, _COMPREHENSIONS):
        own = {name for part in node.generators for name in _stored(part.target)}
    elif isinstance(node, ast.Lambda):
        own = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    elif isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    found: set[str] = set()
    # x += 1 looks at x although its context says otherwise
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    for child in ast.iter_child_nodes(node):
        found |= reads(child)
    return found - own


def binds(node: ast.AST) -> set[str]:
    """Names that get a value."""
    if isinstance(node, (*_COMPREHENSIONS, ast.Lambda)):
        return {
            n.target.id
            for n in ast.walk(node)
            if isinstance(n, ast.NamedExpr) and isinstance(n.target, ast.Name)
        }
    found: set[str] = set()
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        found.add(node.id)
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        found.add(node.name)
    for child in ast.iter_child_nodes(node):
        found |= binds(child)
    return found


# Methods that change what they are called on, besides those that end in an underscore.
_CHANGING = frozenset({"append", "extend", "insert", "update", "add", "pop", "setdefault"})


def changes(node: ast.AST) -> set[str]:
    """Names that get a value, and names whose value is changed: `x[i] = v`, `x.fill_(0)`,
    `losses.append(v)`.
    """
    found = changes_of_tensors(node)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            found |= _root(inner)
        elif _method(inner) in _CHANGING:
            found |= _root(inner.value)  # type: ignore[attr-defined]
    return found


def changes_of_tensors(node: ast.AST) -> set[str]:
    """Names that get a value, and those of tensors or containers that get other items."""
    found = binds(node)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Store):
            found |= _root(inner)
        elif _method(inner).endswith("_"):
            found |= _root(inner.value)  # type: ignore[attr-defined]
    return found


def _method(node: ast.AST) -> str:
    """The method that a statement calls, if that is all it does."""
    call = node.value if isinstance(node, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else ""
    return "" if name == "unscale_" else name  # that one changes gradients, not the scaler


def _root(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) and node.id != "self" else set()


def _stored(target: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}


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
