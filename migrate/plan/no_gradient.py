"""What torch computes without gradients: `with torch.no_grad()`, `@torch.no_grad()`."""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.resolve.values import ProjectFunction, options_of

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
        enabled = any(
            isinstance(node, ast.Attribute | ast.Name)
            and (node.attr if isinstance(node, ast.Attribute) else node.id) == "enable_grad"
            for node in ast.walk(statement)
        )
        return not enabled and any(
            stops_gradient(item.context_expr, context) for item in statement.items
        )
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
