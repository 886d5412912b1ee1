"""What torch computes without gradients: `with torch.no_grad()`, `@torch.no_grad()`."""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.plan.names import binds
from migrate.resolve.values import UNKNOWN, ProjectFunction, is_tensor, options_of

_CONTEXTS = frozenset(
    {
        "torch.no_grad",
        "torch.inference_mode",
        "torch.autograd.no_grad",
        "torch.autograd.inference_mode",
        "torch.autograd.grad_mode.no_grad",
        "torch.autograd.grad_mode.inference_mode",
    }
)


def stops_gradient(node: ast.expr, context: Context) -> bool:
    """`torch.no_grad()`, or the bare name as a decorator."""
    usage = context.usage(node.func if isinstance(node, ast.Call) else node)
    return usage is not None and usage.api in _CONTEXTS


def is_decorated(function: ast.AST | None, context: Context) -> bool:
    """The whole function runs without gradients."""
    decorators = getattr(function, "decorator_list", ())
    return any(stops_gradient(decorator, context) for decorator in decorators)


def without_gradient(statement: ast.stmt, context: Context) -> bool:
    """A no_grad block, or the result of a function that is decorated with it."""
    if isinstance(statement, ast.With):
        return any(stops_gradient(item.context_expr, context) for item in statement.items)
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.Call):
        return False
    return any(
        isinstance(option, ProjectFunction) and _looks_decorated(option.node)
        for option in options_of(context.type(value.func))
    )


def _looks_decorated(function: ast.AST) -> bool:
    """The function may be another file's, whose usages are not at hand: its text must do."""
    return any(
        ast.unparse(decorator).partition("(")[0].endswith(("no_grad", "inference_mode"))
        for decorator in getattr(function, "decorator_list", ())
    )


def names_cut(
    block: ast.With, function: ast.FunctionDef, is_method: bool, context: Context
) -> list[str]:
    """The tensors that a no_grad block computes and that the function uses behind it.

    A loop in the block is an evaluation, whose results are reported and not differentiated.
    """
    loops = any(isinstance(node, ast.For | ast.While) for node in ast.walk(block))
    if loops and not is_method:
        return []
    end = block.end_lineno or block.lineno
    found: dict[str, None] = {}
    bound = {name for statement in block.body for name in binds(statement)}
    for node in ast.walk(function):
        if not isinstance(node, ast.Name) or node.id not in bound or node.lineno <= end:
            continue
        kind = context.type(node)
        if is_tensor(kind) or (is_method and kind is UNKNOWN):
            found[node.id] = None
    return sorted(found)
