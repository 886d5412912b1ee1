"""`was = net.training`, `getattr(net, "training")`: a program that asks for a module's mode."""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.resolve.members import is_module_value
from migrate.resolve.values import UNKNOWN
from migrate.syntax.access import is_read, name_of
from migrate.syntax.ast_index import nodes_of


def reads_mode(tree: ast.Module, inside: set[ast.AST], context: Context) -> bool:
    """Whether code outside of networks (`inside` holds the nodes of their classes) may read the
    mode that a module starts in.
    """
    read = [
        node.value
        for node in nodes_of(tree, ast.Attribute)
        if node.attr == "training" and is_read(node) and node not in inside
    ]
    asked = [
        call.args[0]
        for call in nodes_of(tree, ast.Call)
        if call not in inside
        and name_of(call.func) in ("getattr", "vars")
        and any(isinstance(a, ast.Constant) and a.value == "training" for a in call.args[1:])
    ]
    return any(_may_be_module(owner, context) for owner in [*read, *asked])


def _may_be_module(owner: ast.expr, context: Context) -> bool:
    value = context.type(owner)
    return value is UNKNOWN or is_module_value(value)
