"""Python's types as dtypes: `dtype=bool`, `x.to(float)`. torch's float is double precision."""

from __future__ import annotations

import libcst as cst

from migrate.resolve.values import External, Value, options_of
from migrate.rewrite.calls.call import Call
from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.nodes import expression

_MEANT = {
    "builtins.bool": "mindspore.bool_",
    "builtins.int": "mindspore.int64",
    "builtins.float": "mindspore.float64",
}


def settle_dtypes(call: Call, spelling: ImportPlanner) -> None:
    """Put MindSpore's dtype in the place of each."""
    slot = call.slots.get("dtype")
    if slot is None or not all(_is_plain(option) for option in options_of(slot.type)):
        return
    new = _meant(slot.value, spelling)
    if new is slot.value:
        return
    slot.value = new
    if slot.source is not None and call.node is not None:
        old, slot.source = slot.source, slot.source.with_changes(value=new)
        given = [slot.source if argument is old else argument for argument in call.node.args]
        call.node = call.node.with_changes(args=given)


def _is_plain(kind: Value) -> bool:
    return isinstance(kind, External) and kind.name in _MEANT


def _meant(node: cst.BaseExpression, spelling: ImportPlanner) -> cst.BaseExpression:
    if isinstance(node, cst.Name) and f"builtins.{node.value}" in _MEANT:
        return expression(spelling.name(_MEANT[f"builtins.{node.value}"]))
    if isinstance(node, cst.IfExp):
        body, other = _meant(node.body, spelling), _meant(node.orelse, spelling)
        return node.with_changes(body=body, orelse=other)
    return node
