"""StepLR(optimizer, 1.0): torch counts in any number, MindSpore in whole ones, and scales by
fractions alone.
"""

from __future__ import annotations

import libcst as cst

from migrate.rewrite.calls.call import Call
from migrate.rewrite.rules import becomes, rule


@rule(
    becomes(
        "lr_scheduler.StepLR(optimizer, 1.0, gamma=0.95)",
        "lr_scheduler.StepLR(optimizer, 1, gamma=0.95)",
    ),
    becomes(
        "lr_scheduler.StepLR(optimizer, step_size=30, gamma=1)",
        "lr_scheduler.StepLR(optimizer, step_size=30, gamma=1.0)",
    ),
)
def whole_steps(call: Call) -> None:
    size = call.constant("step_size") if call.given("step_size") else None
    if isinstance(size, float) and size.is_integer():
        _put(call, "step_size", cst.Integer(str(int(size))))
    gamma = call.constant("gamma") if call.given("gamma") else None
    if isinstance(gamma, int):
        _put(call, "gamma", cst.Float(str(float(gamma))))


def _put(call: Call, name: str, value: cst.BaseExpression) -> None:
    slot = call.slots[name]
    slot.value = value
    if slot.source is not None:
        slot.source = slot.source.with_changes(value=value)
