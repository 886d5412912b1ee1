"""Padding: ops.pad adds plain values; it takes nothing away, and not every mode at every rank."""

from __future__ import annotations

from migrate.rewrite.calls.call import MISSING, Call, Refusal
from migrate.rewrite.rules import becomes, rule


@rule(
    becomes("F.pad(x, (1, 1, 2, 2))", "ops.pad(x, (1, 1, 2, 2))"),
    becomes("F.pad(x, (0, 1), value=-1.0)", "ops.pad(x, (0, 1), value=-1.0)"),
    becomes("F.pad(x, (1, -1))", "helpers.pad(x, (1, -1))"),
    becomes("F.pad(x, (1, 1), mode='reflect')", "helpers.pad(x, (1, 1), mode='reflect')"),
    becomes("F.pad(x, (n, n))", "helpers.pad(x, (n, n))"),
)
def pad_amounts(call: Call) -> None:
    if call.constant("mode") != "constant":
        raise Refusal("modes other than constant go by the rank of the input")
    amounts = call.constant("pad")
    if amounts is MISSING or any(not isinstance(n, int) or n < 0 for n in amounts):
        raise Refusal("the padding may take elements away")
