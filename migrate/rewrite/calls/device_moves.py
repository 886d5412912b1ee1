"""`batch.to(device)`, `x.cuda()`: MindSpore has one device, and nothing to move."""

from __future__ import annotations

import ast

from migrate.flow.devices import is_called_device, is_device
from migrate.pipeline.context import Context
from migrate.resolve import Usage

_MOVES = ("cuda", "cpu", "pin_memory")
_OWNERS = ("torch.Tensor", "torch.nn.Module")


def only_moves(usage: Usage, call: ast.Call, context: Context) -> bool:
    """Whether the call moves its receiver and does nothing else, whatever the receiver is."""
    owner, _, name = usage.api.rpartition(".")
    if owner not in _OWNERS:
        return False
    if name in _MOVES:
        return True
    if name != "to":
        return False
    named = {keyword.arg for keyword in call.keywords}
    rest = named - {"device", "non_blocking", "copy", "memory_format"}
    if rest or not call.args:
        return "device" in named and not rest
    return len(call.args) == 1 and _is_device(call.args[0], context)


def _is_device(node: ast.expr, context: Context) -> bool:
    """What is only called a device is one unless the summary's reader knows better."""
    kind = context.type(node)
    if not is_called_device(node, kind):
        return False
    if not is_device(node, kind).yes:
        text = ast.unparse(node)
        what = f"`{text}` is a device, as its name says, not a dtype: its origin is not in view"
        context.assume(node, what, f"print `{text}` at this line in torch")
    return True
