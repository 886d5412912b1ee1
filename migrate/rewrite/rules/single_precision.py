"""A default of single precision is MindSpore's own; any other it does not have."""

from __future__ import annotations

import re

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, flags, rule
from migrate.syntax.text import code

_SINGLE = re.compile(r"\bfloat(32)?\b|\bFloatTensor\b")


@rule(
    becomes("torch.set_default_dtype(torch.float32)\ny = x + 1", "y = x + 1"),
    becomes("torch.set_default_tensor_type('torch.cuda.FloatTensor')\ny = x + 1", "y = x + 1"),
    flags("torch.set_default_dtype(torch.float64)", "MindSpore's default is always float32"),
    flags("torch.set_default_dtype(x)", "MindSpore's default is always float32"),
)
def single_precision(call: Call) -> None:
    if not _SINGLE.search(code(next(iter(call.slots.values())).value)):
        raise Refusal(call.entry.note, call.entry.way, "MS301")
