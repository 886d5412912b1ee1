"""AdaptiveAvgPool2d(1) in an attribute is a mean, written as a MindSpore author writes it.

The operator goes into __init__, the axes to the call: `self.pool = ops.ReduceMean(keep_dims=True)`
and `self.pool(x, (2, 3))`. That is only right where the class makes every use of the attribute.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrate.pipeline.context import Context
from migrate.resolve.values import Known, TupleOf, Value
from migrate.syntax.ast_index import nodes_of

_POOLS = {
    "torch.nn.AdaptiveAvgPool1d": (2,),
    "torch.nn.AdaptiveAvgPool2d": (2, 3),
    "torch.nn.AdaptiveAvgPool3d": (2, 3, 4),
}


@dataclass(slots=True)
class GlobalPools:
    """Constructor calls to replace, and the axes to add to calls of the attribute, by node
    identity.
    """

    constructors: set[int] = field(default_factory=set)
    calls: dict[int, tuple[int, ...]] = field(default_factory=dict)


def find_global_pools(context: Context) -> GlobalPools:
    """All attributes of module classes that hold a global average pool and are only ever called
    with one argument.
    """
    found = GlobalPools()
    for cls in context.module_classes.values():
        stores: dict[str, list[ast.expr | None]] = {}
        uses: dict[str, list[ast.AST]] = {}
        called: dict[int, ast.Call] = {}
        for node in nodes_of(cls.node, ast.Call, ast.Assign, ast.Attribute):
            if isinstance(node, ast.Call):
                called[id(node.func)] = node
            if (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and _self_attribute(node.targets[0])
            ):
                stores.setdefault(node.targets[0].attr, []).append(node.value)  # type: ignore[attr-defined]
            elif _self_attribute(node) and isinstance(node.ctx, ast.Load):
                uses.setdefault(node.attr, []).append(node)
        for name, values in stores.items():
            axes = {_axes(value, context) for value in values}
            calls = [called.get(id(node)) for node in uses.get(name, ())]
            only = axes.pop() if len(axes) == 1 else None
            if only is not None and calls and all(map(_one_argument, calls)):
                found.constructors |= {id(value) for value in values}
                found.calls |= {id(call): only for call in calls}
    return found


def is_one(value: Value) -> bool:
    """1 or (1, 1)."""
    if isinstance(value, Known):
        return bool(value.value == 1) and value.value is not True
    return (
        isinstance(value, TupleOf)
        and bool(value.items)
        and all(is_one(item) for item in value.items)
    )


def _axes(value: ast.expr | None, context: Context) -> tuple[int, ...] | None:
    if not isinstance(value, ast.Call):
        return None
    usage = context.usage(value.func)
    axes = _POOLS.get(usage.api) if usage else None
    arguments = [*value.args, *(keyword.value for keyword in value.keywords)]
    if axes is None or len(arguments) != 1 or not is_one(context.type(arguments[0])):
        return None
    return axes


def _one_argument(call: ast.Call | None) -> bool:
    return (
        call is not None
        and len(call.args) == 1
        and not call.keywords
        and not isinstance(call.args[0], ast.Starred)
    )


def _self_attribute(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )
