"""x.new(...): numbers and a Size are a shape, of uninitialised memory; a list is data."""

from __future__ import annotations

import libcst as cst

from migrate.resolve.values import INT, Known, ListOf, Value
from migrate.rewrite.calls.call import Call, Refusal, Slot
from migrate.rewrite.rules import becomes, flags, rule


@rule(
    becomes("x.new(2, 3)", "x.new_zeros((2, 3))"),
    becomes("x.new(x.size(0), 3)", "x.new_zeros((x.shape[0], 3))"),
    becomes("x.new(x.size())", "x.new_zeros(x.shape)"),
    becomes("x.new(k, n)", "x.new_zeros((k, n))"),
    becomes("x.new(*k)", "x.new_zeros((*k,))"),
    becomes("x.new([1, 2])", "mindspore.tensor((1, 2), dtype=x.dtype)"),
    flags("x.new(k)", "sizes or data"),
)
def old_constructor(call: Call) -> None:
    values = [slot.value for slot in call.varargs]
    kinds = [slot.type for slot in call.varargs]
    if len(values) == 1 and isinstance(values[0], (cst.List, cst.Tuple)):
        call.emit = "mindspore.tensor({args}, dtype={self}.dtype)"
        return
    if len(kinds) == 1 and isinstance(kinds[0], ListOf) and kinds[0].kind == "Size":
        return
    if len(kinds) > 1 or any(_is_starred(slot) for slot in call.varargs):
        return  # data is one argument
    if not kinds or not all(map(_is_int, kinds)):
        raise Refusal("x.new is given sizes or data, and the types do not tell", call.entry.way)


def _is_int(value: Value) -> bool:
    return value is INT or (isinstance(value, Known) and type(value.value) is int)


def _is_starred(slot: Slot) -> bool:
    return slot.source is not None and slot.source.star == "*"
