"""What computes its items one by one: `map(lambda t: t + 1, pair)`, `(t + 1 for t in pair)`."""

from __future__ import annotations

import ast
from typing import NamedTuple

from migrate.syntax.access import name_of


class Mapped(NamedTuple):
    """Item i is `result`, where `name` is item i of `source`."""

    name: str
    result: ast.expr
    source: ast.expr


def one_by_one(node: ast.expr) -> Mapped | None:
    """The mapping that an expression is; None for one that leaves items out, or takes several."""
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        (first, *others) = node.generators
        if others or first.ifs or not isinstance(first.target, ast.Name):
            return None
        return Mapped(first.target.id, node.elt, first.iter)
    if isinstance(node, ast.Call) and name_of(node.func) == "map":
        if len(node.args) != 2 or not isinstance(node.args[0], ast.Lambda):
            return None
        function = node.args[0]
        if len(function.args.args) != 1 or function.args.vararg or function.args.kwonlyargs:
            return None
        return Mapped(function.args.args[0].arg, function.body, node.args[1])
    return None
