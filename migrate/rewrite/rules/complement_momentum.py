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
    becomes("nn.BatchNorm2d(8, affine=False)", "helpers.BatchNorm2d(8, affine=False)"),
    becomes("nn.BatchNorm2d(8, 8)", "helpers.CumulativeBatchNorm(8, 8.0, True, 0.1)"),
    flags("nn.BatchNorm2d(8, momentum=None, track_running_stats=False)", "cumulative average"),
)
def complement_momentum(call: Call) -> None:
    if needs_composed_norm(call):
        return
    if not (call.is_default("affine") and call.is_default("track_running_stats")):
        raise Refusal("MindSpore's layer lists parameters that torch's does not have", "")
    if not call.given("momentum"):
        return
    momentum = call.constant("momentum")
    if momentum is MISSING:
        left = cst.Integer("1")
        minus = cst.Subtract(cst.SimpleWhitespace(" "), cst.SimpleWhitespace(" "))
        call.replace(
            "momentum",
            ("momentum", cst.BinaryOperation(left, minus, atomic(call.value("momentum")))),
        )
    else:
        call.replace("momentum", ("momentum", repr(round(1 - momentum, 12))))


def needs_composed_norm(call: Call) -> bool:
    """What MindSpore's layer does not take; the call is then written in the composed form."""
    eps = call.constant("eps") if call.given("eps") else 0
    if isinstance(eps, (int, float)) and eps > 1:
        # MindSpore's operator takes an eps up to 1; BatchNorm2d(32, 32) is in many programs.
        _refuse_settings(call, f"eps={eps}")
        call.emit = "helpers.CumulativeBatchNorm({num_features}, {eps}, {affine}, {momentum})"
        return True
    if call.given("momentum") and call.constant("momentum") is None:
        _refuse_settings(call, "momentum=None: the cumulative average")
        call.emit = "helpers.CumulativeBatchNorm({num_features}, {eps}, {affine})"
        return True
    return False


def _refuse_settings(call: Call, what: str) -> None:
    if not (call.is_default("bias") and call.is_default("track_running_stats")):
        raise Refusal(f"{what} goes with plain settings only", "give another number", final=True)
