"""Statements of training steps that get another form in their place: zero_grad, step, clipping."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.refusal import Refusal
from migrate.plan.gradient_users import overrides_step
from migrate.plan.training_step import TrainingStep
from migrate.resolve.hierarchy import is_bare_optimizer, skips_base
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.steps.step_code import special_statement
from migrate.rewrite.steps.step_state import StepState
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["types", "steps"],
    after={"writes": "what a statement changes in place is settled first"},
    examples=[
        becomes(
            """
            def train(model, x, y, optimizer: torch.optim.Optimizer):
                optimizer.zero_grad()
                F.mse_loss(model(x), y).backward()
                optimizer.step()
            """,
            """
            def train(model, x, y, optimizer: optim.Optimizer):
                model.set_train()

                def forward_step(x, y):
                    return ops.mse_loss(model(x), y)

                grad_step = helpers.value_and_grad(forward_step, None, optimizer.parameters)
                _, grads = grad_step(x, y)
                optimizer(grads)
            """,
        ),
        becomes(
            """
            class Lookahead(torch.optim.Optimizer):
                def __init__(self, inner):
                    self.inner = inner
            """,
            """
            class Lookahead:
                def __init__(self, inner):
                    self.inner = inner
            """,
        ),
    ],
)
class StepStatements(NodePass):
    """Rewrites them where they stand."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._steps = file.shared(StepState)

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        special = self._steps.plans.roles.get(self._steps.statement(original))
        if special is None or special[0] in ("backward", "guard"):
            return updated
        return self._special(special, updated)

    def _special(
        self, special: tuple[str, TrainingStep, str], node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        kind, plan, detail = special
        small = node.body[0]
        target = code(small.targets[0].target) if isinstance(small, cst.Assign) else ""
        value = getattr(small, "value", None)
        assert isinstance(value, cst.Call)
        line = special_statement(kind, plan, detail, value, target, self.spelling)
        if not line:
            return node.with_changes(body=[])
        new = cst.parse_statement(line)
        assert isinstance(new, cst.SimpleStatementLine)
        return node.with_changes(body=new.body)

    def leave_ClassDef(self, original: cst.ClassDef, updated: cst.ClassDef) -> cst.ClassDef:
        partner = self.partner(original)
        if isinstance(partner, ast.ClassDef) and overrides_step(partner, self.context):
            reason = "step() is written anew over that of an optimizer of torch's"
            step = "derive from torch.optim.Optimizer and write the whole update, or construct()"
            self.flag(partner, Refusal(f"{reason}, and MindSpore does not call it", step, "MS408"))
        if isinstance(partner, ast.ClassDef) and self._is_optimizer_by_name(partner):
            return updated.with_changes(
                bases=[], lpar=cst.MaybeSentinel.DEFAULT, rpar=cst.MaybeSentinel.DEFAULT
            )
        return updated

    def _is_optimizer_by_name(self, cls: ast.ClassDef) -> bool:
        usages = [self.context.usage(base) for base in cls.bases]
        named = [usage is not None and is_bare_optimizer(usage.api) for usage in usages]
        return named == [True] and not cls.keywords and skips_base(cls)
