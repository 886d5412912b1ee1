"""LogSoftmax without dim: torch chooses the axis by the number of dimensions, MindSpore takes the
last. With dim=0 torch takes a single number too, MindSpore's layers do not.
"""

from __future__ import annotations

from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule
from migrate.syntax.nodes import literal


@rule(
    becomes("nn.LogSoftmax(dim=1)", "nn.LogSoftmax(axis=1)"),
    becomes("nn.LogSoftmax()", "helpers.LogSoftmax()"),
    becomes("nn.LogSoftmax(dim=0)", "helpers.LogSoftmax(dim=0)"),
)
def softmax_dim(call: Call) -> None:
    if not call.given("dim") or literal(call.value("dim")) == "None":
        raise Refusal(
            "without dim torch chooses the axis by the number of dimensions",
            "state dim: 0 for inputs of 0, 1 or 3 dimensions, else 1",
        )
    if call.constant("dim") == 0:
        raise Refusal("with dim=0 the input may be a single number, which MindSpore does not take")
