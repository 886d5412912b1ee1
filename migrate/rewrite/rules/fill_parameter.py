"""nn.init: a Parameter gets new data, any other tensor is replaced by a new one."""

from __future__ import annotations

import libcst as cst

from migrate.resolve.values import TENSOR
from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule
from migrate.syntax.nodes import is_cheap


@rule(
    becomes("nn.init.ones_(w)", "w.set_data(initializer('ones', w.shape, w.dtype))"),
    becomes(
        "nn.init.ones_(nn.Linear(2, 3).weight)",
        "helpers.ones_(nn.Dense(2, 3).weight)",
    ),
    becomes(
        "nn.Parameter(nn.init.zeros_(torch.empty(3)))",
        "Parameter(helpers.zeros_(ops.zeros(3)))",
    ),
)
def fill_parameter(call: Call) -> None:
    target = call.value("tensor")
    call.changes = call.type("tensor") is TENSOR
    if call.changes or not is_cheap(target) or isinstance(target, cst.IfExp):
        raise Refusal("the tensor is named once only", "give it a name")
