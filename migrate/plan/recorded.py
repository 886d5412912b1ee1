"""What only a record of the program's operators can answer.

`h.retain_grad()`, `x.grad` of a tensor that no function of the plan gives, `y.requires_grad`:
torch's tensors know how they were computed. MindSpore's do so while operators are recorded.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.flow.parameter_use import is_parameter
from migrate.pipeline.context import Context
from migrate.plan.find import Calls
from migrate.plan.gradient_users import is_gradient
from migrate.plan.input_gradients import GRAD, InputGradients
from migrate.resolve.hierarchy import OPTIMIZER, ancestors
from migrate.resolve.values import ListOf, is_tensor, options_of
from migrate.syntax.access import is_read, name_of
from migrate.syntax.ast_index import all_nodes, nodes_of

_TENSOR = "torch.Tensor"
_WORDS = ("requires_grad", "is_leaf", "register_hook")


def asks_tensors(tree: ast.Module, context: Context, plans: list[InputGradients]) -> ast.AST | None:
    """Where the file asks plain tensors for gradients beyond what is planned."""
    planned = {node for plan in plans for node in plan.reads}
    dropped = {n for plan in plans for s in plan.dropped for n in all_nodes(s)}
    for node in nodes_of(tree, ast.Attribute):
        if node in planned or node in dropped or not is_read(node):
            continue
        usage = context.usage(node)
        if usage is None or is_parameter(context.type(node.value)):
            continue
        if usage.api in (f"{_TENSOR}.grad", f"{_TENSOR}.retain_grad"):
            found: ast.AST = node
            return found
    return (
        _asked_elsewhere(tree, context)
        or _refused(tree, context, plans)
        or _given_to_optimizers(tree, context)
    )


def flag_record(node: ast.AST, context: Context) -> None:
    """The program is right as it is ported, and cannot be compiled."""
    context.flag(
        node,
        "MS408",
        "tensors are asked how they were computed: gradients are recorded while the program "
        "runs, in PyNative mode only and by names of MindSpore's own",
        "take the gradients from mindspore.value_and_grad of a function to have them compiled",
    )


def _asked_elsewhere(tree: ast.Module, context: Context) -> ast.AST | None:
    """`y.requires_grad`, a hook, outside of networks, whose forward may be compiled."""
    inside = {node for cls in context.module_classes.values() for node in all_nodes(cls.node)}
    asked = (
        node
        for node in nodes_of(tree, ast.Attribute)
        if node.attr in _WORDS
        and is_read(node)
        and node not in inside
        and (usage := context.usage(node)) is not None
        and usage.api.startswith(f"{_TENSOR}.")
        and not usage.alternatives
        and not is_parameter(context.type(node.value))
    )
    return next(asked, None)


def _given_to_optimizers(tree: ast.Module, context: Context) -> ast.AST | None:
    """`optim.Adam([z])` of a plain tensor, which no step's function could take from it."""
    for call in _optimizers(tree, context):
        for node in (inner for part in _arguments(call) for inner in all_nodes(part)):
            if isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
                options = options_of(context.type(node))
                kinds = [k.item if isinstance(k, ListOf) else k for k in options]
                if any(is_tensor(k) and not is_parameter(k) for k in kinds):
                    return node
    return None


def _arguments(call: ast.Call) -> list[ast.expr]:
    first = call.args[:1]
    return first or [k.value for k in call.keywords if k.arg == "params"]


def _refused(tree: ast.Module, context: Context, plans: list[InputGradients]) -> ast.AST | None:
    """A call of autograd.grad that no plan has; gradients of gradients are no part of a record."""
    planned = {plan.node for plan in plans}
    refused = (
        node
        for node in nodes_of(tree, ast.Call)
        if (usage := context.usage(node.func)) is not None
        and usage.api == GRAD
        and node not in planned
        and not creates_graph(node)
    )
    return next(refused, None)


def creates_graph(call: ast.Call) -> bool:
    """`create_graph=True`, or a value that may be true."""
    given = [k.value for k in call.keywords if k.arg == "create_graph"] or call.args[4:5]
    return any(not (isinstance(v, ast.Constant) and not v.value) for v in given)


def leaves_apart(tree: ast.Module, calls: list[Calls], context: Context) -> ast.AST | None:
    """`delta = torch.zeros_like(x, requires_grad=True)`, whose gradient is read, and which no
    optimizer holds: a step takes the gradients of what an optimizer holds, or of a model.
    """
    if not any(one.backwards for one in calls):
        return None
    read = {
        node.value.id
        for node in nodes_of(tree, ast.Attribute)
        if isinstance(node.value, ast.Name) and is_gradient(node, context)
    }
    if not read:
        return None
    held = {name for call in _optimizers(tree, context) for name in _names(call)}
    apart = (
        node
        for node in nodes_of(tree, ast.Assign)
        if _is_leaf(node.value)
        for target in node.targets
        if name_of(target) in read - held
    )
    return next(apart, None)


def _optimizers(tree: ast.Module, context: Context) -> Iterator[ast.Call]:
    for node in nodes_of(tree, ast.Call):
        usage = context.usage(node.func)
        if usage is not None and OPTIMIZER in ancestors(usage.api):
            yield node


def _names(call: ast.Call) -> set[str]:
    return {node.id for node in all_nodes(call) if isinstance(node, ast.Name)}


def _is_leaf(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and any(
        keyword.arg == "requires_grad"
        and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        for keyword in value.keywords
    )
