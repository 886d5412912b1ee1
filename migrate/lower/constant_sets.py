"""`{1, 2}` in compiled code: Graph mode has no sets. One of constants that is only searched or
counted is as good as a tuple.
"""

from __future__ import annotations

import ast

from migrate.lower.function import CompiledFunction
from migrate.pipeline import becomes, declare
from migrate.syntax.access import is_store


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled"],
    examples=[
        becomes("if x.ndim in {2, 3, 3}:\n    x = x + 1", "if x.ndim in (2, 3):\n    x = x + 1"),
        becomes("known = {'a', 'b'}\nx = x * len(known)", "known = ('a', 'b')\nx = x * len(known)"),
    ],
)
def constant_sets(function: CompiledFunction) -> None:
    for node in function.of_kind(ast.Set):
        constants = [item for item in node.elts if isinstance(item, ast.Constant)]
        if len(constants) < len(node.elts):
            continue
        if all(_only_asks(use, function) for use in _uses(node, function)):
            values = dict.fromkeys(repr(item.value) for item in constants)
            text = ", ".join(values)
            function.replace(node, f"({text},)" if len(values) == 1 else f"({text})")


def _uses(node: ast.Set, function: CompiledFunction) -> list[ast.AST]:
    """The set where it stands, and the variable that it is assigned to."""
    parent = function.parents[node]
    if not isinstance(parent, ast.Assign):
        return [node]
    if len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
        return [parent]
    name = parent.targets[0].id
    names = [n for n in function.of_kind(ast.Name) if n.id == name]
    stores = [n for n in names if is_store(n)]
    return [n for n in names if n not in stores] if len(stores) == 1 else [parent]


def _only_asks(node: ast.AST, function: CompiledFunction) -> bool:
    parent = function.parents[node]
    if isinstance(parent, ast.Compare):
        searched = isinstance(parent.ops[-1], (ast.In, ast.NotIn))
        return searched and len(parent.ops) == 1 and parent.comparators[0] is node
    return isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "len"
