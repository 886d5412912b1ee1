"""torch.log(torch.arange(1, n)): torch makes floats of whole numbers, MindSpore's CPU does not."""

from __future__ import annotations

import ast

from migrate.port.calls.call import Call
from migrate.port.rules import becomes, rule
from migrate.port.syntax.nodes import atomic, expression
from migrate.port.syntax.text import code
from migrate.port.tensors.origins import is_count


@rule(
    becomes("torch.log(torch.arange(1, k))", "ops.log(ops.arange(1, k).float())"),
    becomes("torch.exp(torch.arange(0.0, 3.0))", "ops.exp(ops.arange(0.0, 3.0))"),
    becomes("torch.sin(x)", "ops.sin(x)"),
)
def counted_input(call: Call) -> None:
    slot = call.slots.get("input")
    if slot is None or not is_count(ast.parse(code(slot.value), mode="eval").body, call.around):
        return
    slot.value = expression(f"{code(atomic(slot.value))}.float()")
    if slot.source is not None:
        slot.source = slot.source.with_changes(value=slot.value)
