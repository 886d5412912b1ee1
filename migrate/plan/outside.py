"""Forward passes behind a loss that were run out of reach: by a caller, or in another method.

`def update(self, out, y)` with `out = self.model(x)` where it is called; `self.fake`, which
`forward()` has set. A function of the step would take them for data, and train nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrate.flow import FunctionFlow
from migrate.flow.gradient import BY_LAYER
from migrate.flow.gradient_reads import attributes_with_gradient, reads_with_gradient
from migrate.pipeline.context import Context
from migrate.resolve.values import Instance, ProjectClass, options_of
from migrate.syntax.ast_index import all_nodes


def computed_outside(
    parts: Sequence[ast.AST], region: Sequence[ast.stmt], flow: FunctionFlow, context: Context
) -> str:
    """What the parts read with its gradient, though a layer outside of the region computed it."""
    inside = {node for statement in region for node in all_nodes(statement)}
    names = [name for part in parts for name in reads_with_gradient(part)]
    found = next((name.id for name in names if _is_passed(name, flow, context)), "")
    held = [node for part in parts for node in attributes_with_gradient(part)]
    return found or next((ast.unparse(n) for n in held if _is_kept(n, inside, context)), "")


def _is_passed(name: ast.Name, flow: FunctionFlow, context: Context) -> bool:
    """An argument that some caller, here or in a file that imports this one, computes with a
    layer.
    """
    facts = context.flow
    return any(
        facts.gradient.of_argument(one, flow) == BY_LAYER
        or facts.callers_elsewhere.carries(flow.node, one.name) == BY_LAYER
        for one in flow.defuse.reaching(name)
        if one.kind == "parameter"
    )


def _is_kept(held: ast.Attribute, inside: set[ast.AST], context: Context) -> bool:
    """An attribute that another statement computes with a layer."""
    values = _assigned(held, context)
    if any(value in inside for value in values):
        return False
    return any(context.flow.gradient.carries(value) == BY_LAYER for value in values)


def _assigned(held: ast.Attribute, context: Context) -> list[ast.expr]:
    """What the methods of its class assign to an attribute."""
    layers = context.flow.effects.layers
    return [
        value
        for option in options_of(context.type(held.value))
        if isinstance(option, Instance) and isinstance(option.cls, ProjectClass)
        for value, _ in layers.assigned(option.cls, held.attr)
    ]
