"""Programs that look for gradients at the parameters: `p.grad`, or a step in another function
than its backward pass.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate.pipeline.context import Context
from migrate.plan.find import CLIPS, Calls
from migrate.plan.mode import models_called
from migrate.plan.parameters import is_parameter
from migrate.plan.project_flags import reads_gradients
from migrate.plan.project_gradients import gradients_cross_functions
from migrate.resolve.hierarchy import OPTIMIZER, ancestors
from migrate.syntax.ast_index import nodes_of

Home = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


def keeps_gradients(tree: ast.Module, calls: Sequence[Calls], context: Context) -> bool:
    """Gradients must be found at the parameters, where torch leaves them."""
    apart = any(one.backwards and not _steps(one) for one in calls) and any(
        _steps(one) and not one.backwards for one in calls
    )
    apart |= any(backward.others for one in calls for backward in one.backwards)
    apart |= gradients_cross_functions(context.modules.project) or _clips_apart(calls, context)
    here = any(is_gradient(node, context) for node in nodes_of(tree, ast.Attribute))
    return apart or here or reads_gradients(context.modules.project, context.resolution.source)


def _clips_apart(calls: Sequence[Calls], context: Context) -> bool:
    """Clipping inside of an expression: `norms.append(clip_grad_norm_(...))`."""
    claimed = {id(call.func) for one in calls for _, call, _ in one.clips if one.backwards}
    return any(u.api in CLIPS and key not in claimed for key, u in context.usages.items())


def _steps(calls: Calls) -> bool:
    return bool(calls.steps or calls.scaled_steps)


def is_gradient(node: ast.AST, context: Context) -> bool:
    """`p.grad` of a parameter; that of a plain tensor is none of the optimizer's."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "grad"
        and is_parameter(context.type(node.value))
    )


def overrides_step(cls: ast.ClassDef, context: Context) -> bool:
    """A subclass of one of torch's optimizers with a step() of its own."""
    methods = [node.name for node in cls.body if isinstance(node, ast.FunctionDef)]
    usages = [context.usage(base) for base in cls.bases]
    return "step" in methods and any(
        usage is not None and usage.api != OPTIMIZER and OPTIMIZER in ancestors(usage.api)
        for usage in usages
    )


def trained_in(parts: Sequence[ast.AST], context: Context) -> str:
    """The parameters of the models that run here, for want of an optimizer; empty if none."""
    calls = [node for part in parts for node in ast.walk(part) if isinstance(node, ast.Call)]
    lists = [f"{model}.trainable_params()" for model in models_called(calls, context)]
    if len(lists) < 2:
        return lists[0] if lists else ""
    return f"[{', '.join(f'*{one}' for one in lists)}]"
