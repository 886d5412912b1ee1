"""torch.as_tensor(array) shares the array's memory; mindspore.tensor copies.

What is written as a list or a number has no memory to share.
"""

from __future__ import annotations

import libcst as cst

from migrate.resolve.values import BOOL, FLOAT, INT, Known, ListOf, TupleOf, options_of
from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule

_NEW = (cst.List, cst.Tuple, cst.ListComp, cst.Integer, cst.Float)


@rule(
    becomes("torch.as_tensor([1, 2])", "mindspore.tensor([1, 2])"),
    becomes("torch.as_tensor(x.shape)", "mindspore.tensor(x.shape)"),
    becomes("torch.as_tensor(data)", "helpers.shared_tensor(data)"),
)
def shared_array(call: Call) -> None:
    if isinstance(call.value("data"), _NEW):
        return
    kinds = options_of(call.type("data"))
    if all(
        kind in (INT, FLOAT, BOOL) or isinstance(kind, (Known, ListOf, TupleOf)) for kind in kinds
    ):
        return
    raise Refusal("an array shares its memory", "copy it with torch.tensor")
