"""Repeating no times: MindSpore's gradient of such a tile is not zero, a helper's is."""

from __future__ import annotations

import libcst as cst

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule
from migrate.syntax.nodes import literal


@rule(
    becomes("torch.tile(x, (2, 1))", "ops.tile(x, (2, 1))"),
    becomes("torch.tile(x, (0, 2))", "helpers.tile(x, (0, 2))"),
)
def some_repeats(call: Call) -> None:
    values = [slot.value for slot in (*call.varargs, *call.slots.values())]
    for value in values:
        inner = (
            [e.value for e in value.elements] if isinstance(value, (cst.Tuple, cst.List)) else []
        )
        if any(literal(number) == "0" for number in (value, *inner)):
            raise Refusal("a repeat of 0 has a wrong gradient")
