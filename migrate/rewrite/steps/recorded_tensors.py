"""Where gradients are recorded, tensors answer torch's questions about them."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.plan.input_gradients import GRAD
from migrate.plan.recorded import creates_graph
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.steps.step_state import StepState
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

_READ = frozenset(f"torch.Tensor.{name}" for name in ("grad", "requires_grad", "is_leaf"))
_METHODS = {
    "torch.Tensor.retain_grad": "helpers.retain_grad",
    "torch.Tensor.requires_grad_": "helpers.recorded_leaf",
}


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages", "steps"],
    after={"input_blocks": "a gradient that is planned needs no record"},
    examples=[
        becomes(
            """
            def slopes(x: torch.Tensor):
                x = x.clone().requires_grad_()
                h = x * 2
                h.retain_grad()
                h.sum().backward()
                return h.grad, x.grad
            """,
            """
            helpers.record()


            def slopes(x: Tensor):
                x = helpers.recorded_leaf(ops.deepcopy(x))
                h = x * 2
                helpers.retain_grad(h)
                helpers.backward(h.sum())
                return h.grad, x.grad
            """,
        ),
    ],
)
class RecordedTensors(NodePass):
    """Keeps `x.grad` and `x.requires_grad`, and calls of autograd.grad, where there is a record."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._tape = file.shared(StepState).plans.tape

    def propose_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression | None:
        usage = self.context.usage(self.partner(original)) if self._tape else None
        if usage is None or usage.api not in _READ or usage.alternatives:
            return None
        self.context.ported += 1
        if usage.api.endswith("is_leaf"):
            return updated.with_changes(attr=cst.Name("_is_leaf"))
        return updated

    def propose_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression | None:
        partner = self.partner(original) if self._tape else None
        usage = self.context.usage(partner.func) if isinstance(partner, ast.Call) else None
        if usage is None or not isinstance(partner, ast.Call):
            return None
        if usage.api == GRAD and not creates_graph(partner):
            self.context.ported += 1
            return updated.with_changes(
                func=expression(self.spelling.name("helpers.recorded_grad"))
            )
        helper = _METHODS.get(usage.api)
        if helper is None or usage.alternatives or not isinstance(updated.func, cst.Attribute):
            return None
        self.context.ported += 1
        given = ", ".join([code(updated.func.value), *(code(a) for a in updated.args)])
        return expression(f"{self.spelling.name(helper)}({given})")
