"""Softmax without dim: torch chooses the axis by the number of dimensions, MindSpore takes the
last.
"""

from __future__ import annotations

from migrate.port.call import Call, Refusal
from migrate.port.nodes import literal
from migrate.port.rules import becomes, rule


@rule(
    becomes("nn.Softmax(dim=1)", "nn.Softmax(axis=1)"),
    becomes("nn.Softmax()", "helpers.Softmax()"),
)
def softmax_dim(call: Call) -> None:
    if not call.given("dim") or literal(call.value("dim")) == "None":
        raise Refusal(
            "without dim torch chooses the axis by the number of dimensions",
            "state dim: 0 for inputs of 0, 1 or 3 dimensions, else 1",
        )
