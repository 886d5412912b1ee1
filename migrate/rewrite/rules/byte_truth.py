"""any and all of bytes are bytes in torch, and truth values in MindSpore."""

from __future__ import annotations

from migrate.rewrite.calls.call import Call
from migrate.rewrite.rules import becomes, rule


@rule(
    becomes(
        "x.byte().any(1)",
        "ops.any(x.byte().bool(), axis=1, keep_dims=False).astype(mindspore.uint8)",
    ),
    becomes("(x > 0).any()", "ops.any((x > 0).bool(), axis=None, keep_dims=False)"),
)
def byte_truth(call: Call) -> None:
    if call.dtype("input" if call.receiver is None else "self") == "uint8":
        call.emit = f"{call.emit}.astype(mindspore.uint8)"
