"""`"silu" in dir(F)`: a question for one API, as `hasattr(F, "silu")` is."""

from __future__ import annotations

import ast

from migrate.resolve.values import External, Value


def asked_name(node: ast.Compare, listed: Value) -> str:
    """The API that is asked for; empty where this is another comparison."""
    name = node.left.value if isinstance(node.left, ast.Constant) else None
    return f"{listed.name}.{name}" if isinstance(listed, External) and isinstance(name, str) else ""


def listed_module(node: ast.Compare) -> ast.expr | None:
    """The module whose names are listed: `F` of `dir(F)`, `vars(F)` and `F.__dict__`."""
    if len(node.ops) != 1 or not isinstance(node.ops[0], ast.In | ast.NotIn):
        return None
    if not isinstance(node.left, ast.Constant) or not isinstance(node.left.value, str):
        return None
    names = node.comparators[0]
    if isinstance(names, ast.Attribute) and names.attr == "__dict__":
        return names.value
    if (
        isinstance(names, ast.Call)
        and isinstance(names.func, ast.Name)
        and names.func.id in ("dir", "vars")
        and len(names.args) == 1
        and not names.keywords
    ):
        return names.args[0]
    return None
