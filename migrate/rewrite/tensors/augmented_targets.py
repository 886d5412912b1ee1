"""What `x += y` changes: a tensor, a part of one, or the name alone."""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.resolve.values import PARAMETER, is_tensor
from migrate.rewrite.calls.call_sites import CallSites, is_tensor_data
from migrate.rewrite.tensors.aliases import seen_by
from migrate.rewrite.tensors.in_place import holds_tensor, is_gradient, is_held_item
from migrate.rewrite.tensors.masked_writes import is_made_here
from migrate.rewrite.tensors.returned_params import is_returned
from migrate.syntax.ast_index import all_nodes


def changes_tensor(target: ast.expr, sites: CallSites, context: Context, compiled: bool) -> bool:
    """`x += 1` of a tensor; of an attribute or an item only outside compiled code."""
    if isinstance(target, ast.Name):
        return is_tensor(context.type(target)) and not _is_unbound(target, context)
    if isinstance(target, ast.Subscript):
        return is_held_item(target, context) and not compiled
    if compiled:
        return is_tensor_data(target, context)
    if is_gradient(target):
        return False
    return sites.is_parameter(target) or holds_tensor(target, context)


def _is_unbound(target: ast.Name, context: Context) -> bool:
    """Nothing else binds the name: the statement raises, whatever it is written as."""
    flow = context.flow.around(target)
    if flow is None or any(
        isinstance(node, (ast.Global, ast.Nonlocal)) and target.id in node.names
        for node in all_nodes(flow.node)
    ):
        return False
    definitions = flow.defuse.definitions(target.id)
    return bool(definitions) and all(d.kind == "augmented" for d in definitions)


def may_be_number(target: ast.expr, context: Context) -> bool:
    """`self.sum += loss * n` of a meter that starts with 0: a tensor later, or never."""
    return (
        isinstance(target, ast.Attribute)
        and not is_tensor_data(target, context)
        and context.type(target) is not PARAMETER
    )


def is_own_part(target: ast.expr, function: ast.AST | None, context: Context) -> bool:
    """A part of a tensor that nobody else sees, or that the function gives back."""
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return False
    name = target.value.id
    return (
        is_tensor(context.type(target.value))
        and (is_made_here(name, function) or is_returned(name, function))
        and not seen_by(target, context)
    )
