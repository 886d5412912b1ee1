"""Tensors changed in place: harmless only where nobody else holds the old value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.analyze.model import Place, Sign
from migrate.analyze.places import Placer
from migrate.resolve.usage import Usage
from migrate.resolve.values import UNKNOWN, Value, is_tensor
from migrate.table import Table

_STEP = "check that no other name holds the old value; the port binds the result to the name"


def find(
    tree: ast.Module, usages: list[Usage], types: dict[ast.AST, Value], table: Table, placer: Placer
) -> Iterator[Sign]:
    """In-place methods, inplace=True, `x += y` on a tensor, and assignment to parts of one."""
    for usage in usages:
        yield from _usage(usage, table, placer)
    for node in placer.nodes(tree, (ast.AugAssign, ast.Assign)):
        if isinstance(node, ast.AugAssign):
            if is_tensor(types.get(node, UNKNOWN)):
                operator = _OPERATORS.get(type(node.op), "?")
                yield _sign(f"x {operator} y", placer.at(node))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and is_tensor(
                    types.get(target.value, UNKNOWN)
                ):
                    yield _sign("x[...] = y", placer.at(target))


def _usage(usage: Usage, table: Table, placer: Placer) -> Iterator[Sign]:
    name = usage.api.rpartition(".")[2]
    if usage.form == "unknown" or usage.api.startswith(("torch.nn.init.", "torch.nn.utils.")):
        return
    entry = table.get(usage.api)
    if (name.endswith("_") and not name.endswith("__")) or (entry is not None and entry.inplace):
        yield _sign(f"{name}()", placer.usage(usage))
    elif usage.call is not None:
        for keyword in usage.call.keywords:
            if keyword.arg == "inplace" and getattr(keyword.value, "value", None) is True:
                yield _sign("inplace=True", placer.usage(usage))


def _sign(what: str, place: Place) -> Sign:
    message = f"{what} changes a tensor in place"
    return Sign("in-place", what, place, "MS403", message, _STEP, "note")


_OPERATORS = {
    ast.Add: "+=",
    ast.Sub: "-=",
    ast.Mult: "*=",
    ast.Div: "/=",
    ast.FloorDiv: "//=",
    ast.Mod: "%=",
    ast.Pow: "**=",
    ast.MatMult: "@=",
    ast.BitAnd: "&=",
    ast.BitOr: "|=",
    ast.BitXor: "^=",
    ast.LShift: "<<=",
    ast.RShift: ">>=",
}
