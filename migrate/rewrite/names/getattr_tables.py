"""`getattr(nn, kind)` where a test around it, or the strings of the file, say what the name can be:
a dictionary of those.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrate.pipeline.context import Context
from migrate.resolve import Usage
from migrate.syntax.ast_index import all_nodes, nodes_of

_CALLED = ("function", "class")
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class GetattrTable:
    """One look-up: the namespace's usage, and the names that its test allows."""

    owner: Usage
    names: tuple[str, ...]


def find_getattr_tables(tree: ast.Module, context: Context) -> dict[ast.AST, GetattrTable]:
    """By the call of getattr."""
    found: dict[ast.AST, GetattrTable] = {}
    calls = [node for node in nodes_of(tree, ast.Call) if _is_getattr(node)]
    for call in calls:
        owner = context.usage(call.args[0])
        if owner is None or owner.api not in ("torch.nn", "torch.nn.functional", "torch"):
            continue
        names = _allowed(tree, call) or _spelled(tree, owner.api, context)
        rows = [context.table.get(f"{owner.api}.{name}") for name in names]
        if names and all(row is not None and row.main.portable for row in rows):
            found[call] = GetattrTable(owner, names)
    return found


def _spelled(tree: ast.Module, owner: str, context: Context) -> tuple[str, ...]:
    """The members that stand as strings in the file: `Net("relu")`, `choices=["GRU", "LSTM"]`.

    Another name raises a KeyError where it is looked up.
    """
    compared = {part for node in nodes_of(tree, ast.Compare) for part in all_nodes(node)}
    texts = {
        node.value
        for node in nodes_of(tree, ast.Constant)
        if isinstance(node.value, str) and node not in compared
    }
    rows = {text: context.table.get(f"{owner}.{text}") for text in texts if text.isidentifier()}
    return tuple(
        sorted(
            name
            for name, row in rows.items()
            if row is not None and row.main.portable and row.kind in _CALLED
        )
    )


def _is_getattr(node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) == 2
        and isinstance(node.args[1], (ast.Name, ast.Attribute))
    )


def _allowed(tree: ast.Module, call: ast.Call) -> tuple[str, ...]:
    """From `if kind in ["LSTM", "GRU"]:` around the call, or an assertion before it."""
    key = ast.unparse(call.args[1])
    for node in nodes_of(tree, ast.If, ast.IfExp, ast.FunctionDef, ast.AsyncFunctionDef):
        if (
            isinstance(node, ast.If)
            and any(inner is call for part in node.body for inner in all_nodes(part))
        ) or (isinstance(node, ast.IfExp) and any(inner is call for inner in all_nodes(node.body))):
            names = _names(node.test, key)
        elif isinstance(node, _FUNCTIONS) and any(inner is call for inner in all_nodes(node)):
            asserted = [s for s in node.body if isinstance(s, ast.Assert)]
            before = [_names(s.test, key) for s in asserted if s.lineno < call.lineno]
            names = next(filter(None, before), ())
        else:
            names = ()
        if names:
            return names
    return ()


def _names(test: ast.expr, key: str) -> tuple[str, ...]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return next(filter(None, (_names(part, key) for part in test.values)), ())
    if isinstance(test, ast.BoolOp):
        parts = [_names(part, key) for part in test.values]
        return tuple(name for part in parts for name in part) if all(parts) else ()
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or ast.unparse(test.left) != key:
        return ()
    return _compared_with(test)


def _compared_with(test: ast.Compare) -> tuple[str, ...]:
    """The texts of `key == "a"`, `key in ("a", "b")`"""
    right = test.comparators[0]
    if isinstance(test.ops[0], ast.Eq):
        values = [right]
    elif isinstance(test.ops[0], ast.In) and isinstance(right, (ast.List, ast.Tuple, ast.Set)):
        values = right.elts
    else:
        return ()
    texts = [v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str)]
    return tuple(texts) if len(texts) == len(values) else ()
