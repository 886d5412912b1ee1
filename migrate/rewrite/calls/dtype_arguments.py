"""`torch.ones(n, dtype=bool)`: torch takes Python's types for dtypes, most of MindSpore's
functions do not.
"""

from __future__ import annotations

import libcst as cst

from migrate.resolve.values import External, options_of
from migrate.rewrite.calls.call import Call, Refusal, Slot
from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.nodes import expression

_DTYPES = {
    "builtins.bool": "mindspore.bool_",
    "builtins.int": "mindspore.int64",
    "builtins.float": "mindspore.float64",
    "builtins.complex": "mindspore.complex128",
}


def settle_dtypes(call: Call, spelling: ImportPlanner) -> None:
    """A type of Python's becomes MindSpore's dtype of the same width as torch's."""
    slot = call.slots.get("dtype")
    if slot is None or slot.value is None:
        return
    names = [option.name for option in options_of(slot.type) if isinstance(option, External)]
    if not any(name in _DTYPES for name in names):
        return
    new = _meant(slot.value, names, spelling)
    if new is None:
        raise Refusal(
            "dtype is one of several types of Python's",
            "use torch's dtypes: torch.bool, torch.int64, torch.float64",
        )
    _replace(call, slot, new)


def _meant(
    node: cst.BaseExpression, names: list[str], spelling: ImportPlanner
) -> cst.BaseExpression | None:
    """The dtype, or a choice between two that are written there."""
    if isinstance(node, cst.IfExp):
        sides = [_written(side, spelling) for side in (node.body, node.orelse)]
        return None if None in sides else node.with_changes(body=sides[0], orelse=sides[1])
    known = len(names) == 1 and isinstance(node, cst.Name | cst.Attribute)
    return expression(spelling.name(_DTYPES[names[0]])) if known else None


def _written(node: cst.BaseExpression, spelling: ImportPlanner) -> cst.BaseExpression | None:
    name = _DTYPES.get(f"builtins.{node.value}") if isinstance(node, cst.Name) else None
    return expression(spelling.name(name)) if name is not None else None


def _replace(call: Call, slot: Slot, new: cst.BaseExpression) -> None:
    slot.value = new
    if slot.source is not None and call.node is not None:
        old, slot.source = slot.source, slot.source.with_changes(value=new)
        given = [slot.source if argument is old else argument for argument in call.node.args]
        call.node = call.node.with_changes(args=given)
