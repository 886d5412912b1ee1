"""`print(model)` with `nn.ReLU(inplace=True)` inside: torch's text says so. The ported layer gives
a new tensor, but remembers what it was asked for where the file makes text of layers.
"""

from __future__ import annotations

import ast
from functools import cached_property

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.rewrite.calls.shown_types import shows_layers
from migrate.rewrite.node_pass import NodePass
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

# torch's own text of these does not tell.
_SILENT = frozenset({"torch.nn.Hardswish", "torch.nn.Hardsigmoid"})


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    after={"library_calls": "the layer is MindSpore's by then"},
    examples=[
        becomes(
            "def show():\n    print(nn.ReLU(inplace=True), nn.ELU(1.0, True), nn.ReLU())",
            "def show():\n"
            "    print(helpers.in_place(nn.ReLU()), helpers.in_place(nn.ELU()), nn.ReLU())",
        ),
        becomes("def make():\n    return nn.ReLU(True)", "def make():\n    return nn.ReLU()"),
    ],
)
class ShownInPlace(NodePass):
    """Layers that are asked to work in place, in files that show layers."""

    @cached_property
    def _shows(self) -> bool:
        return shows_layers(self.context)

    def leave_Call(self, original: cst.Call, updated: cst.BaseExpression) -> cst.BaseExpression:
        partner = self.partner(original)
        if not isinstance(partner, ast.Call) or not isinstance(updated, cst.Call):
            return updated
        if not self._is_in_place(partner) or not self._shows:
            return updated
        return expression(f"{self.spelling.name('helpers.in_place')}({code(updated)})")

    def _is_in_place(self, call: ast.Call) -> bool:
        usage = self.context.usage(call.func)
        if usage is None or not usage.api.startswith("torch.nn.") or usage.api in _SILENT:
            return False
        entry = self.table.get(usage.api)
        signature = entry.main.signature if entry is not None and entry.kind == "class" else None
        if signature is None or signature.get("inplace") is None:
            return False
        given = dict(zip(signature.names, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        value = given.get("inplace")
        return isinstance(value, ast.Constant) and value.value is True
