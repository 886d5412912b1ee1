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
    if len(names) > 1 or not isinstance(slot.value, cst.Name | cst.Attribute):
        raise Refusal(
            "dtype is one of several types of Python's",
            "use torch's dtypes: torch.bool, torch.int64, torch.float64",
        )
    _replace(call, slot, expression(spelling.name(_DTYPES[names[0]])))


def _replace(call: Call, slot: Slot, new: cst.BaseExpression) -> None:
    slot.value = new
    if slot.source is not None and call.node is not None:
        old, slot.source = slot.source, slot.source.with_changes(value=new)
        given = [slot.source if argument is old else argument for argument in call.node.args]
        call.node = call.node.with_changes(args=given)
