"""Calls in and around training steps: losses, parameters, updates that stand apart."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.flow.project_flags import sets_requires_grad
from migrate.pipeline import becomes, declare
from migrate.plan.find import CLIPS
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.steps.step_code import zeros_for_none
from migrate.rewrite.steps.step_state import StepState, precision_of
from migrate.syntax.nodes import expression
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages", "steps"],
    after={
        "input_blocks": "what a planned gradient asks for is no call of a step",
    },
    examples=[
        becomes(
            """
            def train(model: nn.Module, data):
                for x in data:
                    with torch.autocast("cuda"):
                        x = model(x)
            """,
            """
            def train(model: nn.Cell, data):
                for x in data:
                    with helpers.autocast("cuda"):
                        x = model(x)
            """,
        ),
    ],
)
class StepCalls(NodePass):
    """Takes the losses of steps, and fits calls in and around them."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._steps = file.shared(StepState)

    def propose_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression | None:
        partner = self.partner(original)
        if partner is None:
            return None
        if partner not in self._steps.plans.handled:
            return self._outside(partner, updated)
        if isinstance(updated.func, cst.Attribute) and updated.func.attr.value == "backward":
            self._steps.losses[partner] = updated.func.value
        self.context.ported += 1
        return updated

    def propose_Expr(self, original: cst.Expr, updated: cst.Expr) -> cst.RemovalSentinel | None:
        """`model.to(device)` has become `model`: nothing is left to do."""
        call = isinstance(original.value, cst.Call)
        if self._steps.active and call and isinstance(updated.value, cst.Name):
            return cst.RemoveFromParent()
        return None

    def _outside(self, partner: ast.AST, updated: cst.Call) -> cst.BaseExpression | None:
        apart = self._apart(partner, updated)
        if apart:
            self.context.ported += 1
            return expression(apart)
        if not self._steps.is_autocast(partner):
            return None
        self.context.ported += 1
        usage = self.context.usage(partner.func) if isinstance(partner, ast.Call) else None
        name = self.spelling.name("helpers.autocast")
        return expression(f"{name}({precision_of(usage.api if usage else '', updated)})")

    def _apart(self, partner: ast.AST | None, updated: cst.Call) -> str:
        """zero_grad(), step() or clipping away from any backward pass, where gradients are kept."""
        usage = self.context.usage(partner.func) if isinstance(partner, ast.Call) else None
        if not self._steps.plans.accumulates:
            return ""
        owner = code(updated.func.value) if isinstance(updated.func, cst.Attribute) else ""
        if usage is None:
            return self._unknown(partner, owner)
        if not self._steps.plans.on_parameters:
            store = self.spelling.name("helpers.gradients_of")
            if usage.api == "torch.optim.Optimizer.step" and not updated.args:
                return self._step_with(owner, f"{store}({owner}).values")
            clears = usage.api == "torch.optim.Optimizer.zero_grad"
            return f"{store}({owner}).clear({zeros_for_none(updated)})" if clears else ""
        store = self.spelling.name("helpers.ParameterGradients")
        if usage.api == "torch.optim.Optimizer.step" and not updated.args:
            return self._step_with(owner, f"{store}({owner}.parameters).values")
        weights = {
            "torch.optim.Optimizer.zero_grad": f"{owner}.parameters",
            "torch.nn.Module.zero_grad": f"{owner}.trainable_params()",
        }.get(usage.api)
        if weights is not None:
            return f"{store}({weights}).clear({zeros_for_none(updated)})"
        if usage.api in CLIPS and updated.args:
            name = self.spelling.name(f"helpers.{usage.api.rpartition('.')[2].rstrip('_')}_")
            return code(updated.with_changes(func=expression(name)))
        return ""

    def _unknown(self, partner: ast.AST | None, owner: str) -> str:
        """`optimizer.step()` of a parameter that nobody says the type of."""
        if partner not in self._steps.plans.apart or not isinstance(partner, ast.Call):
            return ""
        self.context.edited_lines.add(partner.lineno)
        store = self.spelling.name("helpers.ParameterGradients")
        return self._step_with(owner, f"{store}({owner}.parameters).values")

    def _step_with(self, owner: str, kept: str) -> str:
        """The optimizer's step with gradients that lie somewhere."""
        if sets_requires_grad(self.context.modules.project):
            return f"{self.spelling.name('helpers.update')}({owner}, {kept})"
        return f"{owner}({kept})"
