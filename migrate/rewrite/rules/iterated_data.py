"""torch.tensor(range(8)): MindSpore takes a list of numbers, not whatever yields them."""

from __future__ import annotations

import libcst as cst

from migrate.resolve.values import Instance, ListOf, options_of
from migrate.rewrite.calls.call import Call
from migrate.rewrite.rules import becomes, rule

_YIELD = frozenset({"range", "map", "zip", "filter", "reversed", "deque"})


@rule(
    becomes("torch.tensor(range(8))", "mindspore.tensor(list(range(8)))"),
    becomes(
        "torch.LongTensor(range(8))", "mindspore.tensor(list(range(8)), dtype=mindspore.int64)"
    ),
    becomes("torch.tensor([1, 2])", "mindspore.tensor([1, 2])"),
)
def iterated_data(call: Call) -> None:
    if not call.given("data"):
        return
    value = call.value("data")
    calls = value.func.value if isinstance(value, cst.Call) and hasattr(value.func, "value") else ""
    kinds = {
        option.kind if isinstance(option, ListOf) else getattr(option, "cls", "")
        for option in options_of(call.type("data"))
        if isinstance(option, (ListOf, Instance))
    }
    if calls in _YIELD or kinds & {"iterator", "range", "collections.deque"}:
        changed = cst.Call(func=cst.Name("list"), args=[cst.Arg(value)])
        call.slots["data"].value = changed
        source = call.slots["data"].source
        if source is not None:
            call.slots["data"].source = source.with_changes(value=changed)
