"""Adaptive average pooling to one value is a mean.

To other sizes it needs the adaptive operator.
"""

from __future__ import annotations

from migrate.port.call import Call
from migrate.port.rules import becomes, rule


@rule(
    becomes("nn.AdaptiveAvgPool2d(7)", "nn.AdaptiveAvgPool2d(7)"),
    becomes(
        "nn.Sequential(nn.AdaptiveAvgPool2d(1))", "nn.SequentialCell(helpers.GlobalAvgPool2d())"
    ),
    becomes(
        "nn.Sequential(nn.AdaptiveAvgPool2d((1, 1)))",
        "nn.SequentialCell(helpers.GlobalAvgPool2d())",
    ),
)
def adaptive_avg_pool(call: Call) -> None:
    size = call.constant("output_size")
    if size in (1, [1], (1,), (1, 1), [1, 1], (1, 1, 1), [1, 1, 1]) and size is not True:
        call.emit = f"helpers.GlobalAvgPool{call.entry.torch[-2:]}()"
