"""LayerNorm: torch takes the normalised shape, MindSpore also wants the axis where it begins."""

from __future__ import annotations

import libcst as cst

from migrate.port.call import MISSING, Call, Refusal
from migrate.port.nodes import expression
from migrate.port.rules import becomes, rule
from migrate.resolve.values import INT, NUMBER, Known, ListOf, TupleOf, Value, options_of


@rule(
    becomes("nn.LayerNorm(8)", "nn.LayerNorm((8,), epsilon=1e-05)"),
    becomes("nn.LayerNorm(dim * 2)", "helpers.LayerNorm(dim * 2)"),
    becomes(
        "nn.LayerNorm([3, 8])",
        "nn.LayerNorm((3, 8), begin_norm_axis=-2, begin_params_axis=-2, epsilon=1e-05)",
    ),
)
def layer_norm_shape(call: Call) -> None:
    shape = call.constant("normalized_shape")
    if shape is MISSING:
        axes, node = _axes(call.value("normalized_shape"), call.type("normalized_shape"))
    else:
        sizes = shape if isinstance(shape, list | tuple) else (shape,)
        axes, node = len(sizes), expression(repr(tuple(sizes)))
    slot = call.slots["normalized_shape"]
    slot.value = node
    if slot.source is not None:
        slot.source = slot.source.with_changes(value=node)
    if axes != 1:
        call.extra += [
            (name, expression(f"-{axes}")) for name in ("begin_norm_axis", "begin_params_axis")
        ]


def _axes(node: cst.BaseExpression, kind: Value) -> tuple[int, cst.BaseExpression]:
    options = options_of(kind)
    if all(
        option in (INT, NUMBER) or (isinstance(option, Known) and isinstance(option.value, int))
        for option in options
    ):
        element = cst.Element(node, comma=cst.Comma())
        return 1, cst.Tuple([element], lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    if isinstance(kind, TupleOf):
        return len(kind.items), node
    if isinstance(kind, ListOf):
        raise Refusal("the number of axes is only known at run time")
    raise Refusal("normalized_shape may be a number or a shape, which is only known at run time")
