"""torch.log(torch.arange(1, n)): torch makes floats of whole numbers, MindSpore's CPU does not."""

from __future__ import annotations

import ast

from migrate.rewrite.calls.call import Call
from migrate.rewrite.rules import becomes, rule
from migrate.rewrite.tensors.value_kinds import is_count
from migrate.syntax.nodes import atomic, expression
from migrate.syntax.text import code


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
