"""Variables of a function that only ever hold what the function itself makes of one kind."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial


def vars_of_kind(function: ast.AST, makes: Callable[[ast.expr, str], bool]) -> set[str]:
    """The variables all of whose values are such; `makes` is asked for a value and the name."""
    made: dict[str, bool] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            made[node.arg] = False
        elif isinstance(node, ast.For | ast.comprehension):
            made.update((p.id, False) for p in ast.walk(node.target) if isinstance(p, ast.Name))
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        own = part is target and len(targets) == 1
                        own = own and makes(node.value, part.id)
                        made[part.id] = made.get(part.id, True) and own
        elif isinstance(node, ast.NamedExpr | ast.withitem):
            bound = node.target if isinstance(node, ast.NamedExpr) else node.optional_vars
            parts = ast.walk(bound) if bound is not None else ()
            made.update((part.id, False) for part in parts if isinstance(part, ast.Name))
    return {name for name, own in made.items() if own} - _of_inner_functions(function)


def lists_in(function: ast.AST) -> set[str]:
    """The variables that hold lists, copies of such among them: other things have a copy(), too."""
    known: set[str] = set()
    while True:
        found = vars_of_kind(function, partial(_makes_list, lists=known))
        if found == known:
            return found
        known = found


def _makes_list(value: ast.expr, name: str, lists: set[str]) -> bool:
    """A list written out, copied or added to, or a part of the same one: `skips = skips[::-1]`."""
    if isinstance(value, ast.Call):
        called = value.func
        held = getattr(called.value, "id", "") if isinstance(called, ast.Attribute) else ""
        return getattr(called, "id", "") == "list" or (
            held in lists and getattr(called, "attr", "") == "copy"
        )
    if isinstance(value, ast.BinOp):  # of lists, if one of both surely is one
        return any(_makes_list(side, name, lists) for side in (value.left, value.right))
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
