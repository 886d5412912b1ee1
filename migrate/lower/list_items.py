"""`outs[0] += x` in compiled code, which would count the change twice.

Written as `outs[0] = outs[0] + x` in a list that the function has to itself, if no item of it has
another name by which the change could be seen.
"""

from __future__ import annotations

import ast

from migrate.lower.function import CompiledFunction
from migrate.lower.nonescaping_containers import is_own
from migrate.pipeline import becomes, declare, same
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.edits import Piece

_ADDING = ("append", "extend", "insert")
_PLAIN = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant)
_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled", "types"],
    after={
        "list_pops": "a list whose items are taken by `pop` has items with other names",
    },
    examples=[
        same("outs = [x * 2, x]\nouts[0] += y"),
        becomes(
            "outs = [x * 2]\nouts[0] += y\nx = torch.cat(outs)",
            "outs = [x * 2]\nouts[0] = outs[0] + y\nx = ops.cat(outs)",
        ),
    ],
)
def list_items(function: CompiledFunction) -> None:
    """`outs[0] = outs[0] + x`"""
    for statement in function.of_kind(ast.AugAssign):
        place = statement.target
        if not isinstance(place, ast.Subscript) or not _is_cheap(place.slice):
            continue
        if not is_own(place.value, "list", function) or not _holds_its_own(place.value, function):
            continue
        plain = isinstance(statement.value, _PLAIN)
        value: list[Piece] = [statement.value] if plain else ["(", statement.value, ")"]
        symbol = _SYMBOLS[type(statement.op)]
        function.replace_statement(statement, [place, " = ", place, f" {symbol} ", *value])


def _is_cheap(index: ast.expr) -> bool:
    """Computing it twice does nothing twice."""
    return not any(isinstance(node, (ast.Call, ast.NamedExpr)) for node in all_nodes(index))


def _holds_its_own(held: ast.expr, function: CompiledFunction) -> bool:
    """No item of the list has a name of its own, by which a change of it could be seen."""
    name = getattr(held, "id", "")
    for node in function.of_kind(ast.Assign):
        given = any(getattr(target, "id", "") == name for target in node.targets)
        if given and not _is_of_new_items(node.value, name):
            return False
        taken = node.value.value if isinstance(node.value, ast.Subscript) and not given else None
        if getattr(taken, "id", "") == name:
            return False
    for call in function.of_kind(ast.Call):
        method = call.func
        if isinstance(method, ast.Attribute) and method.attr in _ADDING:
            items = call.args[-1:] if getattr(method.value, "id", "") == name else []
            if any(isinstance(item, (ast.Name, ast.Starred)) for item in items):
                return False
    return True


def _is_of_new_items(value: ast.expr, name: str) -> bool:
    """A list written out, or what is left of the same one; its items are computed in place."""
    if isinstance(value, ast.BinOp):
        return all(_is_of_new_items(side, name) for side in (value.left, value.right))
    if isinstance(value, ast.ListComp):
        return not isinstance(value.elt, ast.Name)
    if isinstance(value, ast.List):
        return not any(isinstance(item, (ast.Name, ast.Starred)) for item in value.elts)
    held = value.value if isinstance(value, ast.Subscript) else value
    return name_of(held) == name
