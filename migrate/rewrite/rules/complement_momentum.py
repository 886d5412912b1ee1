"""BatchNorm momentum: torch weighs the new batch, MindSpore the running value."""

from __future__ import annotations

import libcst as cst

from migrate.rewrite.calls.call import MISSING, Call, Refusal
from migrate.rewrite.rules import becomes, flags, rule
from migrate.syntax.nodes import atomic


@rule(
    becomes("nn.BatchNorm2d(8)", "nn.BatchNorm2d(8)"),
    becomes("nn.BatchNorm2d(8, momentum=0.1)", "nn.BatchNorm2d(8, momentum=0.9)"),
    becomes("nn.BatchNorm2d(8, momentum=0.01)", "nn.BatchNorm2d(8, momentum=0.99)"),
    becomes("nn.BatchNorm2d(8, momentum=1 - 0.9)", "nn.BatchNorm2d(8, momentum=1 - (1 - 0.9))"),
    becomes("nn.BatchNorm2d(8, momentum=m)", "nn.BatchNorm2d(8, momentum=1 - m)"),
    becomes("nn.BatchNorm2d(8, momentum=None)", "helpers.CumulativeBatchNorm(8, 1e-05, True)"),
    flags("nn.BatchNorm2d(8, momentum=None, track_running_stats=False)", "cumulative average"),
)
def complement_momentum(call: Call) -> None:
    if not call.given("momentum"):
        return
    momentum = call.constant("momentum")
    if momentum is None:
        if not (call.is_default("bias") and call.is_default("track_running_stats")):
            raise Refusal(
                "momentum=None: the cumulative average goes with plain settings only",
                "give a number",
                final=True,
            )
        call.emit = "helpers.CumulativeBatchNorm({num_features}, {eps}, {affine})"
        return
    if momentum is MISSING:
        left = cst.Integer("1")
        minus = cst.Subtract(cst.SimpleWhitespace(" "), cst.SimpleWhitespace(" "))
        call.replace(
            "momentum",
            ("momentum", cst.BinaryOperation(left, minus, atomic(call.value("momentum")))),
        )
    else:
        call.replace("momentum", ("momentum", repr(round(1 - momentum, 12))))
