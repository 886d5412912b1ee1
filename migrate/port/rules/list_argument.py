"""A container of cells takes a list, where torch takes anything that can be iterated over."""

from __future__ import annotations

import libcst as cst

from migrate.port.call import Call
from migrate.port.nodes import literal
from migrate.port.rules import becomes, rule


@rule(
    becomes("nn.ModuleList()", "nn.CellList()"),
    becomes("nn.ModuleList([nn.ReLU()])", "nn.CellList([nn.ReLU()])"),
    becomes(
        "nn.ModuleList(nn.Linear(2, 2) for _ in range(3))",
        "nn.CellList([nn.Dense(2, 2) for _ in range(3)])",
    ),
    becomes("nn.ModuleList(layers)", "nn.CellList(list(layers))"),
)
def list_argument(call: Call) -> None:
    name = next(iter(call.slots), "")
    if not name or literal(call.value(name)) == "None":
        call.slots.clear()
        return
    value = call.value(name)
    if isinstance(value, cst.GeneratorExp):
        value = cst.ListComp(elt=value.elt, for_in=value.for_in)
    elif not isinstance(value, cst.List | cst.ListComp):
        value = cst.Call(func=cst.Name("list"), args=[cst.Arg(value)])
    slot = call.slots[name]
    slot.value = value
    if slot.source is not None:
        slot.source = slot.source.with_changes(
            value=value, keyword=None, equal=cst.MaybeSentinel.DEFAULT
        )
    call.varargs, call.slots = [slot], {}
