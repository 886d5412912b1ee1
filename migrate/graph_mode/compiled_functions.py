"""The functions of a ported file that Graph mode compiles, for passes over the finished code."""

from __future__ import annotations

import ast

from migrate.flow.outlines import definitions
from migrate.pipeline.context import Context
from migrate.syntax.ast_index import all_nodes

_DUE = frozenset(
    """
    OrderedDict copy dict extend insert partial pop remove reverse sort
    """.split()  # noqa: SIM905
)


def compiled_names(context: Context) -> frozenset[str]:
    """Of functions that a pass may change, as the port names them: `Net.construct`."""
    return frozenset(
        _ported(name)
        for name, node in definitions(context.tree)
        if context.is_compiled(node) and any(map(_is_due, all_nodes(node)))
    )


def all_compiled_names(context: Context) -> frozenset[str]:
    """Of all functions that are compiled."""
    return frozenset(
        _ported(name) for name, node in definitions(context.tree) if context.is_compiled(node)
    )


def _is_due(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        called = node.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        return name in _DUE
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Subscript)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Tuple)
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Attribute) for target in node.targets)
    return isinstance(node, (ast.For, ast.If))


def _ported(name: str) -> str:
    owner, _, last = name.rpartition(".")
    return f"{owner}.construct" if last == "forward" else name
