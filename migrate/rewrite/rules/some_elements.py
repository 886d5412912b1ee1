"""Reductions of what may have no elements: MindSpore's CPU kernels give what the memory held."""

from __future__ import annotations

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule

_READ = ("self", "input", "other", "mat2", "tensor", "vec", "target")


@rule(
    becomes("x.sum()", "x.sum()"),
    becomes("x[x > 0].sum()", "helpers.sum_with_empty(x[x > 0])"),
    becomes("x[x > 0].exp().mean(0)", "helpers.mean_with_empty(x[x > 0].exp(), 0)"),
    becomes(
        "torch.sum(torch.masked_select(x, x > 0))",
        "helpers.sum_with_empty(helpers.masked_select(x, x > 0))",
    ),
    becomes("(x[x > 0] > 1).any()", "helpers.any_with_empty(x[x > 0] > 1)"),
    becomes("F.mse_loss(x[x > 0], y[x > 0])", "helpers.mse_loss_with_empty(x[x > 0], y[x > 0])"),
    becomes(
        "loss = nn.MSELoss()\ny = loss(x[x > 0], x[x > 0])",
        "loss = helpers.MSELossWithEmpty()\ny = loss(x[x > 0], x[x > 0])",
    ),
    becomes("x[x > 0].sum().mean()", "helpers.sum_with_empty(x[x > 0]).mean()"),
)
def some_elements(call: Call) -> None:
    layer = call.entry.kind == "class" and call.gets_empty(call.entry.torch)
    if layer or any(map(call.is_maybe_empty, _READ)):
        raise Refusal("the tensor may have no elements")
