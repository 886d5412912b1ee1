"""Variables of a function that only ever hold what the function itself makes of one kind."""

from __future__ import annotations

import ast
from collections.abc import Callable


def variables_holding(function: ast.AST, makes: Callable[[ast.expr, str], bool]) -> set[str]:
    """The variables all of whose values are such; `makes` is asked for a value and the name."""
    made: dict[str, bool] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            made[node.arg] = False
        elif isinstance(node, ast.For | ast.comprehension):
            made.update((p.id, False) for p in ast.walk(node.target) if isinstance(p, ast.Name))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        own = part is target and len(node.targets) == 1
                        own = own and makes(node.value, part.id)
                        made[part.id] = made.get(part.id, True) and own
    return {name for name, own in made.items() if own} - _of_inner_functions(function)


def makes_list(value: ast.expr, name: str) -> bool:
    """A list written out, copied or added to, or a part of the same one: `skips = skips[::-1]`."""
    if isinstance(value, ast.Call):
        called = value.func
        return getattr(called, "id", "") == "list" or getattr(called, "attr", "") == "copy"
    if isinstance(value, ast.BinOp):  # of lists, if one of both surely is one
        return any(makes_list(side, name) for side in (value.left, value.right))
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Slice) and getattr(value.value, "id", "") == name
    return isinstance(value, ast.List | ast.ListComp)


def _of_inner_functions(function: ast.AST) -> set[str]:
    """Names that an inner function may keep."""
    return {
        part.id
        for node in ast.walk(function)
        if isinstance(node, ast.FunctionDef | ast.Lambda) and node is not function
        for part in ast.walk(node)
        if isinstance(part, ast.Name)
    }
