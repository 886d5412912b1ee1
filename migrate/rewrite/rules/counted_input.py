"""torch.log(torch.arange(1, n)): torch makes floats of whole numbers, MindSpore's CPU does not."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.flow.dtypes import WHOLE
from migrate.rewrite.calls.call import Call
from migrate.rewrite.rules import becomes, rule
from migrate.rewrite.tensors.value_kinds import is_count
from migrate.syntax.nodes import atomic, expression
from migrate.syntax.text import code


@rule(
    becomes("torch.log(torch.arange(1, k))", "ops.log(ops.arange(1, k).float())"),
    becomes("torch.exp(torch.arange(0.0, 3.0))", "ops.exp(ops.arange(0.0, 3.0))"),
    becomes("torch.sin(x)", "ops.sin(x)"),
    becomes("torch.arange(1, 3).log()", "ops.arange(1, 3).float().log()"),
)
def counted_input(call: Call) -> None:
    if call.receiver is not None:
        if call.dtype("self") in WHOLE:
            call.receiver = expression(f"{code(atomic(call.receiver))}.float()")
        return
    slot = call.slots.get("input")
    if slot is None:
        return
    known = call.dtype("input")
    counts = not known and is_count(_parsed(slot.value), call.around)
    if not counts and known not in WHOLE:
        return
    slot.value = expression(f"{code(atomic(slot.value))}.float()")
    if slot.source is not None:
        slot.source = slot.source.with_changes(value=slot.value)


def _parsed(node: cst.BaseExpression) -> ast.expr:
    """The expression for stdlib's eyes; in brackets, since it may go over several lines."""
    return ast.parse(f"({code(node)})", mode="eval").body
