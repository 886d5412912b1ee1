"""`"silu" in dir(F)`: a question for one API, as `hasattr(F, "silu")` is."""

from __future__ import annotations

import ast

from migrate.resolve.values import External, Value
from migrate.syntax.access import name_of
from migrate.table import Table


def tested_api(node: ast.Compare, listed: Value, table: Table) -> str:
    """The API that is asked for; empty where this is another comparison.

    A function that has the keyword stands for the question itself.
    """
    name = node.left.value if isinstance(node.left, ast.Constant) else None
    if not isinstance(listed, External) or not isinstance(name, str):
        return ""
    if getattr(node.comparators[0], "attr", "") == "__kwdefaults__":
        entry = table.get(table.canonical(listed.name))
        forms = [form.signature for form in entry.overloads] if entry is not None else []
        parameters = [form.get(name) for form in forms if form is not None]
        return listed.name if any(p is not None and p.kind == "keyword" for p in parameters) else ""
    return f"{listed.name}.{name}"


def listing_module(node: ast.Compare) -> ast.expr | None:
    """The module whose names are listed: `F` of `dir(F)`, `vars(F)` and `F.__dict__`; the
    function whose keywords are: `torch.meshgrid.__kwdefaults__`.
    """
    if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return None
    if not isinstance(node.left, ast.Constant) or not isinstance(node.left.value, str):
        return None
    names = node.comparators[0]
    if isinstance(names, ast.Attribute) and names.attr in ("__dict__", "__kwdefaults__"):
        return names.value
    if (
        isinstance(names, ast.Call)
        and name_of(names.func) in ("dir", "vars")
        and len(names.args) == 1
        and not names.keywords
    ):
        return names.args[0]
    return None
