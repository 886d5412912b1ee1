"""BatchNorm in a program that looks at num_batches_tracked: a layer that counts."""

from __future__ import annotations

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule
from migrate.rewrite.rules.complement_momentum import needs_composed_norm

_LOOK = "print(bn.num_batches_tracked)"


@rule(
    becomes(
        f"bn = nn.BatchNorm2d(8, momentum=0.01)\n{_LOOK}",
        f"bn = helpers.CountingBatchNorm2d(8, momentum=0.01)\n{_LOOK}",
    ),
    becomes(
        f"bn = nn.BatchNorm2d(8, momentum=None)\n{_LOOK}",
        f"bn = helpers.CumulativeBatchNorm(8, 1e-05, True)\n{_LOOK}",
    ),
)
def counting_norm(call: Call) -> None:
    if not needs_composed_norm(call):
        raise Refusal("MindSpore's layer does not count batches", "")
