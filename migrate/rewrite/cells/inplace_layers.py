"""Layers that change what they are given: `self.relu = nn.ReLU(inplace=True)`."""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.syntax.ast_index import nodes_of

_WRAPPERS = frozenset({"torch.nn.Sequential"})


def find_inplace_layers(context: Context) -> set[tuple[int, str]]:
    """(class, attribute) of each layer that writes its result over its input."""
    found: set[tuple[int, str]] = set()
    for number, cls in context.module_classes.items():
        for node in nodes_of(cls.node, ast.Assign):
            if _is_inplace(node.value, context):
                found |= {
                    (number, target.attr)
                    for target in node.targets
                    if isinstance(target, ast.Attribute)
                    and isinstance(target.value, ast.Name)
                    and target.value.id == "self"
                }
    return found


def _is_inplace(node: ast.expr, context: Context) -> bool:
    """A call that makes such a layer, or a Sequential that begins with one."""
    if not isinstance(node, ast.Call):
        return False
    usage = context.usage(node.func)
    entry = context.table.get(usage.api) if usage is not None else None
    if usage is None or entry is None or entry.kind != "class":
        return False
    if usage.api in _WRAPPERS:
        return bool(node.args) and _is_inplace(node.args[0], context)
    signature = entry.main.signature
    names = [parameter.name for parameter in signature.positional] if signature else []
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    given |= dict(zip(names, node.args, strict=False))
    value = given.get("inplace")
    return isinstance(value, ast.Constant) and value.value is True
