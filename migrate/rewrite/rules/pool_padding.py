"""Pooling: torch's stride is the kernel unless given, and its padding symmetric.

MindSpore must be told both.
"""

from __future__ import annotations

import libcst as cst

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule
from migrate.syntax.nodes import literal

# MindSpore looks at these only when it pads explicitly.
_NEED_PAD_MODE = (
    "padding",
    "dilation",
    "return_indices",
    "ceil_mode",
    "count_include_pad",
    "divisor_override",
)


@rule(
    becomes("nn.MaxPool2d(2)", "nn.MaxPool2d(2, stride=2)"),
    becomes("nn.MaxPool2d(3, 2)", "nn.MaxPool2d(3, stride=2)"),
    becomes(
        "nn.MaxPool3d(kernel_size=3, stride=2, padding=1)",
        "nn.MaxPool3d(kernel_size=3, stride=2, pad_mode='pad', padding=1)",
    ),
    becomes(
        "nn.MaxPool3d(3, 2, ceil_mode=True)",
        "nn.MaxPool3d(3, stride=2, pad_mode='pad', ceil_mode=True)",
    ),
    becomes("nn.MaxPool3d(k, padding=p)", "nn.MaxPool3d(k, pad_mode='pad', padding=p, stride=k)"),
    becomes("nn.MaxPool2d(size())", "helpers.MaxPool2d(size())"),
)
def pool_padding(call: Call) -> None:
    if not call.given("stride") or literal(call.value("stride")) == "None":
        kernel = call.value("kernel_size")
        if literal(kernel) is None and not isinstance(kernel, (cst.Name, cst.Attribute)):
            raise Refusal("the stride is the kernel size, which is computed")
        call.replace("stride", ("stride", kernel))
    first = True
    for name in [name for name in call.slots if name in _NEED_PAD_MODE]:
        if call.is_default(name):
            call.replace(name)
        else:
            mode = (("pad_mode", "'pad'"),) if first else ()
            call.replace(name, *mode, (name, call.value(name)))
            first = False
