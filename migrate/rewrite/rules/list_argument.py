"""A container of cells takes a list, where torch takes anything that can be iterated over."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.calls.missing_layers import is_given_none, may_hold_none
from migrate.rewrite.rules import becomes, rule
from migrate.syntax.nodes import literal
from migrate.syntax.text import code


@rule(
    becomes("nn.ModuleList()", "nn.CellList()"),
    becomes("nn.ModuleList([nn.ReLU()])", "nn.CellList([nn.ReLU()])"),
    becomes(
        "nn.ModuleList(nn.Linear(2, 2) for _ in range(3))",
        "nn.CellList([nn.Dense(2, 2) for _ in range(3)])",
    ),
    becomes("nn.ModuleList(layers)", "nn.CellList(list(layers))"),
    becomes(
        "nn.ModuleList([nn.ReLU(), nn.Tanh() if k else None])",
        "helpers.ModuleList([nn.ReLU(), nn.Tanh() if k else None])",
    ),
)
def list_argument(call: Call) -> None:
    name = next(iter(call.slots), "")
    if is_given_none(call.variable, call.around):
        raise Refusal("a CellList holds cells only")
    if not name or literal(call.value(name)) == "None":
        call.slots.clear()
        return
    value = call.value(name)
    if may_hold_none(ast.parse(f"({code(value)})", mode="eval").body, call.around):
        raise Refusal("a CellList holds cells only")
    if isinstance(value, cst.GeneratorExp):
        value = cst.ListComp(elt=value.elt, for_in=value.for_in)
    elif not isinstance(value, (cst.List, cst.ListComp)):
        value = cst.Call(func=cst.Name("list"), args=[cst.Arg(value)])
    slot = call.slots[name]
    slot.value = value
    if slot.source is not None:
        slot.source = slot.source.with_changes(
            value=value, keyword=None, equal=cst.MaybeSentinel.DEFAULT
        )
    call.varargs, call.slots = [slot], {}
