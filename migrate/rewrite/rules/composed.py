"""nn.GroupNorm: MindSpore 2.10's fused operator forgets to sum the gradients of gamma and beta when
a graph holds maps of several sizes. The helper computes it of small ones.
"""

from __future__ import annotations

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule


@rule(
    becomes("nn.GroupNorm(2, 8)", "helpers.GroupNorm(2, 8)"),
    becomes("nn.GroupNorm(2, 8, eps=1e-6)", "helpers.GroupNorm(2, 8, eps=1e-6)"),
)
def composed(call: Call) -> None:
    raise Refusal("the fused operator's gradients are not summed up in every graph", "")
