"""torch.FloatTensor(n): a number is a size, anything else is data. What n is may only be known when
the program runs.
"""

from __future__ import annotations

import libcst as cst

from migrate.resolve.values import INT, Instance, Known, ListOf, TupleOf, is_tensor
from migrate.rewrite.calls.call import Call, Slot
from migrate.rewrite.rules import becomes, rule


@rule(
    becomes("torch.FloatTensor(k)", "helpers.FloatTensor(k)"),
    becomes("torch.FloatTensor(3)", "ops.zeros((3,), dtype=mindspore.float32)"),
    becomes("torch.FloatTensor(k, 3)", "ops.zeros((k, 3), dtype=mindspore.float32)"),
    becomes("torch.LongTensor([1, 2])", "mindspore.tensor([1, 2], dtype=mindspore.int64)"),
    becomes("torch.FloatTensor(x.size())", "ops.zeros(x.shape, dtype=mindspore.float32)"),
    becomes("torch.Tensor(x.size())", "ops.zeros(x.shape)"),
    becomes("torch.Tensor(k)", "helpers.FloatTensor(k)"),
)
def size_or_data(call: Call) -> None:
    slots = [*call.varargs, *call.slots.values()]
    if len(slots) != 1:
        return
    kind = slots[0].type
    hole = "{data}" if "data" in call.slots else "{size}"
    stated = "dtype=" in call.emit  # not of torch.Tensor, which is float32
    if isinstance(kind, ListOf) and kind.kind == "Size":
        dtype = f", dtype={call.emit.rpartition('dtype=')[2].rstrip(')')}" if stated else ""
        call.emit = f"ops.zeros({hole}{dtype})"
    elif not stated:
        return
    elif not _is_certain(slots[0]) and hole == "{data}":
        call.emit = f"helpers.{call.entry.torch.rpartition('.')[2]}({hole})"
    elif not _is_certain(slots[0]):
        name = call.signature.varargs.name if call.signature and call.signature.varargs else "size"
        call.varargs.clear()
        call.slots[name] = slots[0]
        call.emit = f"helpers.{call.entry.torch.rpartition('.')[2]}({hole})"


def _is_certain(slot: Slot) -> bool:
    """A number, or surely data."""
    kind = slot.type
    if isinstance(
        slot.value, (cst.List, cst.Tuple, cst.ListComp, cst.Integer, cst.BinaryOperation)
    ):
        return not isinstance(slot.value, cst.BinaryOperation) or kind is INT
    if kind is INT or isinstance(kind, (TupleOf, ListOf)) or is_tensor(kind):
        return True
    if isinstance(kind, Known):
        return True
    return isinstance(kind, Instance) and kind.cls in ("builtins.list", "builtins.tuple")
