"""Convolution padding: torch pads both sides of an axis by one number, MindSpore names every
side.
"""

from __future__ import annotations

import libcst as cst

from migrate.resolve.values import INT, NUMBER, Known, Value, options_of
from migrate.rewrite.calls.call import MISSING, Call, Refusal
from migrate.rewrite.rules import becomes, flags, rule


@rule(
    becomes("nn.Conv2d(3, 8, 3)", "nn.Conv2d(3, 8, 3, pad_mode='pad', has_bias=True)"),
    becomes(
        "nn.Conv2d(3, 8, 3, padding=1)",
        "nn.Conv2d(3, 8, 3, pad_mode='pad', padding=1, has_bias=True)",
    ),
    becomes(
        "nn.Conv2d(3, 8, 3, 2, 1)",
        "nn.Conv2d(3, 8, 3, stride=2, pad_mode='pad', padding=1, has_bias=True)",
    ),
    becomes(
        "nn.Conv2d(3, 8, 3, padding=(1, 2))",
        "nn.Conv2d(3, 8, 3, pad_mode='pad', padding=(1, 1, 2, 2), has_bias=True)",
    ),
    becomes(
        "nn.Conv2d(3, 8, 3, padding='valid')", "nn.Conv2d(3, 8, 3, pad_mode='valid', has_bias=True)"
    ),
    becomes(
        "nn.Conv2d(3, 8, k, padding=(k - 1) // 2)",
        "nn.Conv2d(3, 8, k, pad_mode='pad', padding=(k - 1) // 2, has_bias=True)",
    ),
    becomes("nn.Conv2d(3, 8, k, padding=p)", "helpers.Conv2d(3, 8, k, padding=p)"),
    flags("nn.Conv2d(3, 8, 3, padding=(1, 2, 3))", "padding"),
)
def conv_padding(call: Call) -> None:
    if not call.given("padding"):
        return
    axes = int(call.entry.torch[-2]) if call.entry.torch[-2].isdigit() else 2
    padding = call.constant("padding")
    if padding is MISSING:
        if not _is_number(call.value("padding"), call.type("padding")):
            raise Refusal(
                "padding may be a number or one for each axis, which is only known at run time"
            )
        call.replace("padding", ("pad_mode", "'pad'"), ("padding", call.value("padding")))
    elif isinstance(padding, str):
        call.replace("padding", ("pad_mode", repr(padding)))
    elif isinstance(padding, int):
        call.replace("padding", ("pad_mode", "'pad'"), ("padding", str(padding)))
    elif len(padding) == axes:
        both = tuple(side for number in padding for side in (number, number))
        sides = str(both[0]) if len(set(both)) == 1 else str(both)
        call.replace("padding", ("pad_mode", "'pad'"), ("padding", sides))
    else:
        raise Refusal(f"padding={padding!r} does not name {axes} axes", final=True)


def _is_number(node: cst.BaseExpression, kind: Value) -> bool:
    """Surely one number: by type, or because no tuple can be divided or subtracted."""
    if all(option in (INT, NUMBER) or isinstance(option, Known) for option in options_of(kind)):
        return True
    return isinstance(node, cst.BinaryOperation) and isinstance(
        node.operator, (cst.FloorDivide, cst.Subtract)
    )
