"""Max pooling that pads goes through the helper, which pads with -inf first.

MindSpore's own pad_mode='pad' is a kernel with positions: on an Ascend that one runs on the AI
CPU, forward and gradient.
"""

from __future__ import annotations

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule


@rule(
    becomes("nn.MaxPool2d(3, 2)", "nn.MaxPool2d(3, stride=2)"),
    becomes("nn.MaxPool2d(3, 2, padding=0)", "nn.MaxPool2d(3, stride=2)"),
    becomes(
        "nn.MaxPool2d(kernel_size=3, stride=2, padding=1)",
        "helpers.MaxPool2d(kernel_size=3, stride=2, padding=1)",
    ),
    becomes("nn.MaxPool2d(3, 2, ceil_mode=True)", "helpers.MaxPool2d(3, 2, ceil_mode=True)"),
    becomes("nn.MaxPool2d(k, padding=p)", "helpers.MaxPool2d(k, padding=p)"),
)
def padded_max_pool(call: Call) -> None:
    if any(call.given(name) and not call.is_default(name) for name in ("padding", "ceil_mode")):
        raise Refusal("padded max pooling runs on the AI CPU of an Ascend")
