"""Pooling: torch's stride is the kernel unless given, and padding is symmetric; MindSpore must be told both."""

from __future__ import annotations

import libcst as cst

from migrate.port.call import Call, Refusal
from migrate.port.nodes import literal
from migrate.port.rules import becomes, rule


@rule(
    becomes("nn.MaxPool2d(2)", "nn.MaxPool2d(2, stride=2)"),
    becomes("nn.MaxPool2d(3, 2)", "nn.MaxPool2d(3, stride=2)"),
    becomes(
        "nn.MaxPool2d(kernel_size=3, stride=2, padding=1)",
        "nn.MaxPool2d(kernel_size=3, stride=2, pad_mode='pad', padding=1)",
    ),
    becomes(
        "nn.MaxPool2d(3, 2, ceil_mode=True)",
        "nn.MaxPool2d(3, stride=2, pad_mode='pad', ceil_mode=True)",
    ),
    becomes("nn.MaxPool2d(size())", "helpers.MaxPool2d(size())"),
    becomes("nn.MaxPool2d(2, return_indices=True)", "helpers.MaxPool2d(2, return_indices=True)"),
)
def pool_padding(call: Call) -> None:
    for name, neutral in (("dilation", 1), ("return_indices", False), ("divisor_override", None)):
        if call.given(name):
            if call.constant(name) != neutral:
                raise Refusal(f"{name} is not the default")
            call.replace(name)
    if not call.given("stride") or literal(call.value("stride")) == "None":
        kernel = call.value("kernel_size")
        if literal(kernel) is None and not isinstance(kernel, cst.Name | cst.Attribute):
            raise Refusal("the stride is the kernel size, which is computed")
        call.replace("stride", ("stride", kernel))
    padding, ceil_mode = call.constant("padding"), call.constant("ceil_mode")
    if padding not in (0,) and not isinstance(padding, int):
        raise Refusal("padding is not one constant number")
    if not isinstance(ceil_mode, bool):
        raise Refusal("ceil_mode is only known at run time")
    if padding:
        call.replace("padding", ("pad_mode", "'pad'"), ("padding", str(padding)))
    elif call.given("padding"):
        call.replace("padding")
    if ceil_mode:
        pad = () if padding else (("pad_mode", "'pad'"),)
        call.replace("ceil_mode", *pad, ("ceil_mode", "True"))
    elif call.given("ceil_mode"):
        call.replace("ceil_mode")
