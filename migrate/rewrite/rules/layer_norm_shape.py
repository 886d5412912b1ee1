"""LayerNorm: torch takes a number or a shape, MindSpore a tuple, and agrees for one axis only."""

from __future__ import annotations

import libcst as cst

from migrate.resolve.values import INT, NUMBER, Known, TupleOf, Value, options_of
from migrate.rewrite.calls.call import MISSING, Call, Refusal
from migrate.rewrite.rules import becomes, rule
from migrate.syntax.nodes import expression


@rule(
    becomes("nn.LayerNorm(8)", "nn.LayerNorm((8,), epsilon=1e-05)"),
    becomes("nn.LayerNorm(dim * 2)", "helpers.LayerNorm(dim * 2)"),
    becomes("nn.LayerNorm([8])", "nn.LayerNorm((8,), epsilon=1e-05)"),
    becomes("nn.LayerNorm([3, 8])", "helpers.LayerNorm([3, 8])"),
)
def layer_norm_shape(call: Call) -> None:
    shape = call.constant("normalized_shape")
    if shape is MISSING:
        node = _one_axis(call.value("normalized_shape"), call.type("normalized_shape"))
    else:
        sizes = shape if isinstance(shape, (list, tuple)) else (shape,)
        if len(sizes) != 1:
            raise Refusal("MindSpore's operator normalises over one axis")
        node = expression(repr(tuple(sizes)))
    slot = call.slots["normalized_shape"]
    slot.value = node
    if slot.source is not None:
        slot.source = slot.source.with_changes(value=node)


def _one_axis(node: cst.BaseExpression, kind: Value) -> cst.BaseExpression:
    options = options_of(kind)
    if all(
        option in (INT, NUMBER) or (isinstance(option, Known) and isinstance(option.value, int))
        for option in options
    ):
        element = cst.Element(node, comma=cst.Comma())
        return cst.Tuple([element], lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    if isinstance(kind, TupleOf) and len(kind.items) == 1:
        return node
    raise Refusal("normalized_shape may be a number or a shape, which is only known at run time")
