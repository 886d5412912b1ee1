"""A default of single precision is MindSpore's own; any other it does not have."""

from __future__ import annotations

import libcst as cst

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, flags, rule

_SINGLE = ("float", "float32", "FloatTensor")


@rule(
    becomes("torch.set_default_dtype(torch.float32)\ny = x + 1", "y = x + 1"),
    becomes("torch.set_default_tensor_type('torch.cuda.FloatTensor')\ny = x + 1", "y = x + 1"),
    flags("torch.set_default_dtype(torch.float64)", "MindSpore's default is always float32"),
    flags("torch.set_default_dtype(x)", "MindSpore's default is always float32"),
    flags(
        "torch.set_default_dtype(torch.float64 if double else torch.float32)",
        "MindSpore's default is always float32",
    ),
)
def single_precision(call: Call) -> None:
    if _last_word(next(iter(call.slots.values())).value) not in _SINGLE:
        raise Refusal(call.entry.note, call.entry.way, "MS301")


def _last_word(value: cst.BaseExpression) -> str:
    """`float32` of `torch.float32`, `FloatTensor` of `"torch.cuda.FloatTensor"`"""
    if isinstance(value, cst.Attribute):
        return value.attr.value
    if isinstance(value, cst.SimpleString):
        return str(value.evaluated_value).rpartition(".")[2]
    return value.value if isinstance(value, cst.Name) else ""
