"""The arguments of a call as the source has them."""

from __future__ import annotations

import ast

from migrate.rewrite.calls.call import Call


def sources_of(call: Call, partner: ast.Call) -> dict[str, ast.expr]:
    """The arguments as the source has them, by torch's names; the receiver is "self"."""
    written = arguments_in_order(partner)
    found: dict[str, ast.expr] = {}
    if call.receiver is not None and call.node is not None:
        if len(call.node.args) < len(written):
            found["self"] = written.pop(0)  # torch.Tensor.add(x, y)
        elif isinstance(partner.func, ast.Attribute):
            found["self"] = partner.func.value
    for place, slot in enumerate(call.slots.values()):
        if place < len(written) and not call.varargs:
            found[slot.name] = written[place]
    return found


def arguments_in_order(node: ast.Call) -> list[ast.expr]:
    """Positional and keyword arguments as they stand in the source."""
    parts: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    parts.sort(key=lambda part: (part.lineno, part.col_offset))
    return [part.value if isinstance(part, ast.keyword) else part for part in parts]
