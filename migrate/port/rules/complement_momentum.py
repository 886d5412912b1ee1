"""BatchNorm momentum: torch weighs the new batch, MindSpore the running value."""

from __future__ import annotations

import libcst as cst

from migrate.port.call import MISSING, Call, Refusal
from migrate.port.nodes import atomic
from migrate.port.rules import becomes, flags, rule


@rule(
    becomes("nn.BatchNorm2d(8)", "nn.BatchNorm2d(8)"),
    becomes("nn.BatchNorm2d(8, momentum=0.1)", "nn.BatchNorm2d(8, momentum=0.9)"),
    becomes("nn.BatchNorm2d(8, momentum=0.01)", "nn.BatchNorm2d(8, momentum=0.99)"),
    becomes("nn.BatchNorm2d(8, momentum=1 - 0.9)", "nn.BatchNorm2d(8, momentum=1 - (1 - 0.9))"),
    becomes("nn.BatchNorm2d(8, momentum=m)", "nn.BatchNorm2d(8, momentum=1 - m)"),
    flags("nn.BatchNorm2d(8, momentum=None)", "cumulative average"),
)
def complement_momentum(call: Call) -> None:
    if not call.given("momentum"):
        return
    momentum = call.constant("momentum")
    if momentum is None:
        raise Refusal(
            "momentum=None: the cumulative average has no counterpart in MindSpore",
            "give a number",
            final=True,
        )
    if momentum is MISSING:
        left = cst.Integer("1")
        minus = cst.Subtract(cst.SimpleWhitespace(" "), cst.SimpleWhitespace(" "))
        call.replace(
            "momentum",
            ("momentum", cst.BinaryOperation(left, minus, atomic(call.value("momentum")))),
        )
    else:
        call.replace("momentum", ("momentum", repr(round(1 - momentum, 12))))
