"""cumsum of int32, uint8 and truth values is int64 in torch; MindSpore keeps what it is given."""

from __future__ import annotations

from migrate.flow.dtypes import WHOLE
from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule
from migrate.syntax.nodes import atomic, expression
from migrate.syntax.text import code

_DIRECT = ("int64", "float16", "float32", "float64")


@rule(
    becomes("x.float().cumsum(1)", "x.float().cumsum(1)"),
    becomes("(x > 0).cumsum(1)", "(x > 0).long().cumsum(1)"),
    becomes("torch.cumsum(x > 0, 1)", "ops.cumsum((x > 0).long(), 1)"),
    becomes("x.cumsum(1)", "helpers.cumsum(x, 1)"),
    becomes("x.cumsum(1, dtype=torch.int64)", "x.cumsum(1, dtype=mindspore.int64)"),
)
def whole_totals(call: Call) -> None:
    if call.given("dtype"):
        return
    kind = call.dtype("input" if call.receiver is None else "self")
    if kind in _DIRECT:
        return
    if kind not in WHOLE:
        raise Refusal("the dtype of the tensor is not known here", "cast it")
    if call.receiver is not None:
        call.receiver = expression(f"{code(atomic(call.receiver))}.long()")
        return
    slot = call.slots["input"]
    slot.value = expression(f"{code(atomic(slot.value))}.long()")
    if slot.source is not None:
        slot.source = slot.source.with_changes(value=slot.value)
