"""Adaptive average pooling to one value is a mean.

To other sizes it is a product with constant matrices: MindSpore's own operator runs on Ascend's
AI CPU.
"""

from __future__ import annotations

from typing import Any

from migrate.rewrite.calls.call import Call
from migrate.rewrite.rules import becomes, rule


@rule(
    becomes("nn.AdaptiveAvgPool2d(7)", "helpers.AdaptiveAvgPool2d(7)"),
    becomes(
        "nn.Sequential(nn.AdaptiveAvgPool2d(1))", "nn.SequentialCell(helpers.GlobalAvgPool2d())"
    ),
    becomes(
        "nn.Sequential(nn.AdaptiveAvgPool2d((1, 1)))",
        "nn.SequentialCell(helpers.GlobalAvgPool2d())",
    ),
    becomes("F.adaptive_avg_pool2d(x, 1)", "ops.mean(x, (-2, -1), keep_dims=True)"),
    becomes("F.adaptive_avg_pool3d(x, (1, 1, 1))", "ops.mean(x, (-3, -2, -1), keep_dims=True)"),
    becomes("F.adaptive_avg_pool2d(x, (7, 7))", "helpers.adaptive_avg_pool2d(x, (7, 7))"),
)
def adaptive_avg_pool(call: Call) -> None:
    size = call.constant("output_size")
    axes = int(call.entry.torch[-2])
    if not (_is_one(size) or (isinstance(size, (list, tuple)) and all(map(_is_one, size)))):
        return
    if call.entry.kind == "class":
        call.emit = f"helpers.GlobalAvgPool{axes}d()"
    else:
        call.emit = f"ops.mean({{input}}, {tuple(range(-axes, 0))}, keep_dims=True)"


def _is_one(size: Any) -> bool:
    return isinstance(size, int) and size == 1 and size is not True
