"""Settings at the end of their range that MindSpore's operators refuse: everything dropped, nothing
smoothed.
"""

from __future__ import annotations

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule

_ENDS = {"p": 1, "beta": 0}


@rule(
    becomes("F.dropout(x, 0.5)", "ops.dropout(x, p=0.5)"),
    becomes("F.dropout(x, p=1.0)", "helpers.dropout(x, p=1.0)"),
    becomes(
        "F.smooth_l1_loss(x, y, beta=0.5)", "ops.smooth_l1_loss(x, y, beta=0.5, reduction='mean')"
    ),
    becomes("F.smooth_l1_loss(x, y, beta=0)", "helpers.smooth_l1_loss(x, y, beta=0.0)"),
)
def whole_range(call: Call) -> None:
    for name, end in _ENDS.items():
        if call.given(name) and call.constant(name) == end:
            raise Refusal(f"MindSpore does not take {name}={end}")
