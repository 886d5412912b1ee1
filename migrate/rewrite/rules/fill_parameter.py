"""nn.init: a Parameter gets new values, any other tensor is replaced by a new one.

While a network is built, set_data gives a Parameter other memory. Later, optimizers and compiled
steps would go on with the old one: the values are assigned.
"""

from __future__ import annotations

import libcst as cst

from migrate.resolve.values import TENSOR
from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule
from migrate.syntax.nodes import is_cheap


@rule(
    becomes(
        "nn.init.ones_(w)",
        "ops.assign(w, initializer('ones', w.shape, w.dtype).init_data())",
    ),
    becomes(
        "class Net(nn.Module):\n    def __init__(self, w):\n        nn.init.ones_(w)\n",
        "class Net(nn.Cell):\n    def __init__(self, w):\n"
        "        w.set_data(initializer('ones', w.shape, w.dtype))\n",
    ),
    becomes("v = nn.init.ones_(w)", "v = helpers.ones_(w)"),
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
    if call.variable:
        raise Refusal("the result is used")
    if call.emit and not call.builds():
        value = call.emit.removeprefix("{tensor}.set_data(").removesuffix(")")
        call.emit = f"mindspore.ops.assign({{tensor}}, {value}.init_data())"
