"""`outs[0] += x` in compiled code, which would count the change twice.

Written as `outs[0] = outs[0] + x` in a list that the function keeps to itself, if no item of it has
another name by which the change could be seen.
"""

from __future__ import annotations

import ast
import re
import textwrap

import libcst as cst

from migrate.graph_mode.expand_pop import nonescaping_lists
from migrate.pipeline import becomes, declare, same
from migrate.pipeline.context import Context
from migrate.syntax.text import code
from migrate.syntax.walk import transform_lazily

_ADDS_TO_ITEM = re.compile(r"\] ?[^\s=!<>]{1,2}= ")
_ADDING = ("append", "extend", "insert")


@declare(
    phase="graph_mode",
    unit="function",
    needs=["compiled"],
    after={
        "expand_pop": "a list whose items are taken by `pop` has items with other names",
    },
    examples=[
        same("outs = [x * 2, x]\nouts[0] += y"),
        becomes(
            "outs = [x * 2]\nouts[0] += y\nx = torch.cat(outs)",
            "outs = [x * 2]\nouts[0] = outs[0] + y\nx = ops.cat(outs)",
        ),
    ],
)
def expand_item_augassign(
    function: cst.FunctionDef, text: str, context: Context
) -> cst.FunctionDef:
    """`outs[0] = outs[0] + x`"""
    if not _ADDS_TO_ITEM.search(text):
        return function
    tree = ast.parse(textwrap.dedent(text)).body[0]
    lists = {name for name in nonescaping_lists(tree) if _holds_its_own(name, tree)}
    return transform_lazily(function, _Items(lists)) if lists else function


class _Items(cst.CSTTransformer):
    def __init__(self, lists: set[str]) -> None:
        super().__init__()
        self._lists = lists

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        change = updated_node.body[0]
        if len(updated_node.body) != 1 or not isinstance(change, cst.AugAssign):
            return updated_node
        place = change.target
        if (
            not isinstance(place, cst.Subscript)
            or not isinstance(place.value, cst.Name)
            or place.value.value not in self._lists
        ):
            return updated_node
        operator = code(change.operator).strip().removesuffix("=")
        target, value = code(place), code(change.value)
        plain = isinstance(change.value, cst.Name | cst.Call | cst.Attribute | cst.Subscript)
        value = value if plain else f"({value})"
        new = cst.parse_statement(f"{target} = {target} {operator} {value}")
        assert isinstance(new, cst.SimpleStatementLine)
        return updated_node.with_changes(body=new.body)


def _holds_its_own(name: str, function: ast.AST) -> bool:
    """No item of the list has a name of its own, by which a change of it could be seen."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            given = any(getattr(target, "id", "") == name for target in node.targets)
            if given and not _is_of_new_items(node.value, name):
                return False
            taken = isinstance(node.value, ast.Subscript) and not given
            if taken and getattr(node.value.value, "id", "") == name:  # type: ignore[attr-defined]
                return False
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _ADDING:
            held = getattr(node.func, "value", None)
            items = node.args[-1:] if getattr(held, "id", "") == name else []
            if any(isinstance(item, ast.Name | ast.Starred) for item in items):
                return False
    return True


def _is_of_new_items(value: ast.expr, name: str) -> bool:
    """A list written out, or what is left of the same one; its items are computed in place."""
    if isinstance(value, ast.BinOp):
        return all(_is_of_new_items(side, name) for side in (value.left, value.right))
    if isinstance(value, ast.ListComp):
        return not isinstance(value.elt, ast.Name)
    if isinstance(value, ast.List):
        return not any(isinstance(item, ast.Name | ast.Starred) for item in value.elts)
    held = value.value if isinstance(value, ast.Subscript) else value
    return isinstance(held, ast.Name) and held.id == name
