"""`if self.use_checkpoint and x.requires_grad:` before a checkpoint.

A MindSpore tensor does not say whether it needs a gradient. Here the answer only decides whether
activations are kept or computed again, which changes no number: training is when they are needed.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes, nodes_of

_CHECKPOINT = "torch.utils.checkpoint."


def checkpoint_guards(tree: ast.Module, context: Context) -> set[ast.AST]:
    """The `x.requires_grad` in tests that choose between a checkpoint and a plain call."""
    usages = context.usages.values()
    if not any(usage.api.startswith(_CHECKPOINT) for usage in usages):
        return set()
    found: set[ast.AST] = set()
    for node in nodes_of(tree, ast.If, ast.IfExp):
        if _recomputes(node, context):
            parts = list(all_nodes(node.test))
            if any(name_of(part) == "self" for part in parts):
                found |= {p for p in parts if getattr(p, "attr", "") == "requires_grad"}
    return found


def _recomputes(node: ast.If | ast.IfExp, context: Context) -> bool:
    """The chosen branch is one call of a checkpoint, whatever it is used for."""
    body = node.body if isinstance(node.body, list) else [node.body]
    if len(body) != 1 or not isinstance(body[0], (ast.Assign, ast.Return, ast.expr)):
        return False
    chosen = body[0] if isinstance(body[0], ast.expr) else body[0].value
    if not isinstance(chosen, ast.Call):
        return False
    usage = context.usage(chosen.func)
    return usage is not None and usage.api.startswith(_CHECKPOINT)
