"""Where a list of layers may hold None: torch keeps the place of a layer that is not there."""

from __future__ import annotations

import ast

from migrate.syntax.access import method_of, name_of
from migrate.syntax.ast_index import all_nodes

_ADDING = ("append", "insert")


def may_hold_none(value: ast.expr, around: ast.AST | None) -> bool:
    """`[norm, pool if last else None]`, or a list that is filled with such things."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return any(may_be_none(element, around) for element in value.elts)
    if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        return may_be_none(value.elt, around)
    return isinstance(value, ast.Name) and is_given_none(value.id, around)


def is_given_none(variable: str, around: ast.AST | None) -> bool:
    """`layers.append(None)`, for the list of that name."""
    if not variable or around is None:
        return False
    return any(
        method_of(node) in _ADDING
        and bool(node.args)
        and ast.unparse(node.func.value) == variable
        and may_be_none(node.args[-1], around)
        for node in all_nodes(around)
    )


def may_be_none(node: ast.expr, around: ast.AST | None, depth: int = 0) -> bool:
    """None, a choice that may be it, a variable that is given it, or a call of a function of the
    same place that gives it back.
    """
    if isinstance(node, ast.IfExp):
        return may_be_none(node.body, around, depth) or may_be_none(node.orelse, around, depth)
    if isinstance(node, ast.Constant):
        return node.value is None
    if around is None or depth > 3:
        return False
    if isinstance(node, ast.Name):
        return any(may_be_none(value, around, depth + 1) for value in _given(node.id, around))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return any(may_be_none(v, around, depth + 1) for v in _results(node.func.id, around))
    return False


def _given(name: str, around: ast.AST) -> list[ast.expr]:
    """What a variable is given, side by side too: `a, b = None, None`."""
    values: list[ast.expr] = []
    for node in all_nodes(around):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            assert isinstance(node, ast.Assign)
            if name_of(target) == name:
                values.append(node.value)
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=False)
                values += [v for t, v in pairs if name_of(t) == name]
    return values


def _results(name: str, around: ast.AST) -> list[ast.expr]:
    """What a function that is defined here gives back."""
    results = [value.body for value in _given(name, around) if isinstance(value, ast.Lambda)]
    for node in all_nodes(around):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            returns = [inner for inner in all_nodes(node) if isinstance(inner, ast.Return)]
            results += [inner.value or ast.Constant(None) for inner in returns]
    return results
