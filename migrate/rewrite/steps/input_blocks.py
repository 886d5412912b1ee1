"""Put the gradients of plain tensors into the tree: a function of them, and its gradients where
the program asks for them.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.plan.input_gradients import InputGradients
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.steps.input_functions import InputFunctions
from migrate.rewrite.steps.step_state import StepState
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.nodes import expression


@declare(
    phase="rewrite",
    unit="node",
    needs=["steps"],
    examples=[
        becomes(
            """
            def penalty(f, x: torch.Tensor):
                x = x.detach().requires_grad_(True)
                y = f(x).sum()
                (g,) = torch.autograd.grad(y, x)
                return g
            """,
            """
            def penalty(f, x: Tensor):
                x = helpers.requires_grad_(ops.stop_gradient(x), True)

                def outputs_of(x):
                    y = f(x).sum()
                    return y
                y, x_grads = helpers.with_gradients(outputs_of, (x,))
                (g,) = x_grads
                return g
            """,
        ),
    ],
)
class InputBlocks(NodePass):
    """Rewrites calls of autograd.grad that are planned, and what leads to them."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._steps = file.shared(StepState)
        plans = self._steps.plans.gradients
        self._calls: dict[ast.AST | None, InputGradients] = {plan.node: plan for plan in plans}
        self._reads = {node: plan for plan in plans for node in plan.reads}
        self._dropped = {s for plan in plans for s in plan.dropped}
        self._dropped |= {p.statement for p in plans if p.is_backward}
        self._blocks = file.shared(InputFunctions)
        for plan in plans:
            for statement in plan.dropped:
                for node in all_nodes(statement):
                    self.context.ported += self.context.usages.pop(node, None) is not None

    # Expressions ----------------------------------------------------------------------------------

    def propose_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression | None:
        plan = self._calls.get(self.partner(original)) if self._calls else None
        if plan is None:
            return None
        self.context.ported += 1
        if plan.is_backward:
            assert isinstance(updated.func, cst.Attribute)
            self._blocks.outputs[plan] = _bare(updated.func.value, plan)
            return updated
        given = {
            a.keyword.value if a.keyword is not None else _NAMES[i]: a.value
            for i, a in enumerate(updated.args)
        }
        self._blocks.outputs[plan] = _bare(_alone(given["outputs"]), plan)
        if plan.start is not None:
            self._blocks.starts[plan] = _alone(given["grad_outputs"])
        if "create_graph" in given:
            self._blocks.again[plan] = given["create_graph"]
        return cst.Name(plan.gradients_name)

    def propose_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression | None:
        partner = self.partner(original)
        plan = self._reads.get(partner) if self._reads else None
        if plan is None:
            return None
        self.context.ported += 1
        return expression(f"{plan.gradients_name}[{plan.reads[partner]}]")

    # Statements -----------------------------------------------------------------------------------

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        if self._dropped and self._steps.statement(original) in self._dropped:
            return updated.with_changes(body=[])
        return updated


_NAMES = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs")


def _alone(value: cst.BaseExpression) -> cst.BaseExpression:
    """The tensor in `[loss]` or `(loss,)`."""
    if isinstance(value, (cst.List, cst.Tuple)) and len(value.elements) == 1:
        return value.elements[0].value
    return value


def _bare(outputs: cst.BaseExpression, plan: InputGradients) -> cst.BaseExpression:
    """`pred` of `pred.sum()`, where the plan says so."""
    return cst.Name(plan.outputs.id) if isinstance(plan.outputs, ast.Name) else outputs
