"""Put planned training steps into the tree: forward functions in front of loops, gradients in
place of backward().
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import libcst as cst

from migrate.flow.models import models_behind
from migrate.pipeline import becomes, declare
from migrate.plan.training_step import TrainingStep
from migrate.rewrite.calls.call_sites import CallSites
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.statements.suites import is_gone
from migrate.rewrite.steps.input_functions import InputFunctions
from migrate.rewrite.steps.step_code import (
    backward_statements,
    forward_function,
    gradient_lines,
    in_branches,
    preparation,
    renamed,
    snapshots,
)
from migrate.rewrite.steps.step_precision import precision_of_step, without_blocks
from migrate.rewrite.steps.step_state import StepState
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.node_pairs import JoinError
from migrate.syntax.nodes import expression, with_parts
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["steps"],
    after={
        "blocks": "statements are moved as what they have become",
        "gradient_cells": "statements are moved as what they have become",
        "gradient_ends": "statements are moved as what they have become",
        "hoisted_lines": "lines in front of a statement move with it",
        "stateful_item_writes": "a statement that became three moves as three",
        "step_statements": "statements are moved as what they have become",
    },
    examples=[
        becomes(
            """
            def train(model, data):
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for x, y in data:
                    optimizer.zero_grad()
                    loss = F.mse_loss(model(x), y)
                    loss.backward()
                    optimizer.step()
            """,
            """
            def train(model, data):
                optimizer = helpers.SGD(model.trainable_params(), lr=0.1)
                model.set_train()

                def forward_step(x, y):
                    loss = ops.mse_loss(model(x), y)
                    return loss
                grad_step = helpers.value_and_grad(forward_step, None, optimizer.parameters)
                for x, y in data:
                    loss, grads = grad_step(x, y)
                    optimizer(grads)
            """,
        ),
    ],
)
class InsertSteps(NodePass):
    """Moves whole statements, once everything inside them has been rewritten."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._steps = file.shared(StepState)
        self._inputs = file.shared(InputFunctions)
        self._sites = file.shared(CallSites)
        self._taken: set[TrainingStep] = set()  # plans that stand in the tree
        for plan in self._steps.all_plans:
            for statement, names in plan.unbound.items():
                lines = [cst.parse_statement(f"{name} = None") for name in names]
                self._steps.before.setdefault(statement, []).extend(lines)

    def finish(self) -> None:
        """A step that was planned and is not there must not be lost without a word."""
        lost = [plan for plan in self._steps.all_plans if plan not in self._taken]
        if lost:
            raise JoinError(f"the step at line {lost[0].backward.call.lineno} has no place")

    # Statements -----------------------------------------------------------------------------------

    def leave_SimpleStatementLine(self, original: cst.SimpleStatementLine, updated: Any) -> Any:
        added = self._behind(self._steps.statement(original))
        if added:
            updated = cst.FlattenSentinel([*_statements(updated), *added])
        return self._remembered(original, updated)

    def _behind(self, statement: ast.AST | None) -> list[cst.BaseStatement]:
        """What comes to stand behind a statement."""
        models = self._steps.plans.switches.after.get(statement, [])
        lines = [f"{model}.set_train()" for model in models]
        integers = self._sites.int_gradient_cuts.get(statement) if statement else None
        if integers:
            stop = self.spelling.name("mindspore.ops.stop_gradient")
            lines.append(f"{integers} = {stop}({integers})")
        return [cst.parse_statement(line) for line in lines]

    def leave_If(self, original: cst.If, updated: Any) -> Any:
        return self._remembered(original, updated)

    def leave_For(self, original: cst.For, updated: Any) -> Any:
        return self._remembered(original, updated)

    def leave_While(self, original: cst.While, updated: Any) -> Any:
        return self._remembered(original, updated)

    def leave_Try(self, original: cst.Try, updated: Any) -> Any:
        return self._remembered(original, updated)

    def leave_TryStar(self, original: cst.TryStar, updated: Any) -> Any:
        return self._remembered(original, updated)

    def leave_Match(self, original: cst.Match, updated: Any) -> Any:
        return self._remembered(original, updated)

    def leave_FunctionDef(self, original: cst.FunctionDef, updated: Any) -> Any:
        return self._remembered(original, updated)

    def leave_ClassDef(self, original: cst.ClassDef, updated: Any) -> Any:
        return self._remembered(original, updated)

    def leave_With(self, original: cst.With, updated: Any) -> Any:
        return self._remembered(original, updated)

    def _remembered(self, original: cst.CSTNode, result: Any) -> Any:
        if self._steps.active:
            self._steps.produced[original] = _statements(result)
        return result

    # Blocks ---------------------------------------------------------------------------------------

    def leave_IndentedBlock(
        self, original: cst.IndentedBlock, updated: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return with_parts(updated, body=self._arranged(original.body, list(updated.body)))

    def leave_Module(self, original: cst.Module, updated: cst.Module) -> cst.Module:
        return with_parts(updated, body=self._arranged(original.body, list(updated.body)))

    def _arranged(
        self, original: Sequence[cst.CSTNode], updated: list[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        """The statements of a block with its training steps in their new form."""
        if not self._steps.active:
            return updated
        differentiated = self._inputs.differentiated(original)
        plans = [plan for node in original for plan in self._plans_at(node)]
        if (
            not plans
            and not differentiated
            and not any(self._steps.statement(node) in self._steps.before for node in original)
        ):
            return updated
        block = _Block(plans)
        for node in original:
            self._place(block, node)
        return block.body

    def _place(self, block: _Block, node: cst.CSTNode) -> None:
        """Put what a statement has become where it belongs."""
        partner = self._steps.statement(node)
        statements = self._steps.produced.get(node, [])
        block.body += self._steps.before.pop(partner, [])
        if partner in block.region:
            if partner in block.detached:
                block.body += self._for_data(partner, statements)
            for plan in block.region[partner]:
                block.starts.setdefault(plan, len(block.body))
                block.inside[plan] += [*statements, *snapshots(plan, partner)]
        elif partner in block.deferred:
            plan = block.deferred[partner]
            block.behind[plan] += renamed(plan, partner, statements)
        elif self._plans_at(node):
            self._place_step(block, node, statements)
        else:
            block.body += statements

    def _place_step(
        self, block: _Block, node: cst.CSTNode, statements: list[cst.BaseStatement]
    ) -> None:
        """The backward pass: its function in front of the first statement, gradients here."""
        plan, *others = self._plans_at(node)
        made = self._step(plan, block.inside[plan], statements)
        for other in others:
            made = self._in_either(plan, other, block.inside[other], statements)
        start = block.starts.get(plan, len(block.body))
        if plan.anchor in (*plan.region, plan.backward.statement):
            block.body[start:start] = self._steps.before.pop(plan.anchor, [])
        # A batch that is skipped by what the step gave leaves no gradients.
        kept = made[:-1] if plan.may_skip and plan.accumulates and plan.guard is None else made
        block.body += [*kept, *block.behind[plan], *made[len(kept) :]]
        if plan.guard is not None:
            block.body += statements

    def _for_data(
        self, partner: ast.AST | None, statements: list[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        """`fake = generator(z)`, detached in one step and differentiated in the next: here its
        value is enough, and the running statistics are the next one's to change.
        """
        statement = partner or ast.Pass()
        calls = [n.func for n in all_nodes(statement) if isinstance(n, ast.Call)]
        called = [f for f in calls if self.context.usage(f) is None]
        models = [name for f in called for name in models_behind(f, statement, self.context.flow)]
        if not models:
            return statements
        keep = self.spelling.name("helpers.preserve_running_stats")
        item = cst.WithItem(expression(f"{keep}({', '.join(dict.fromkeys(models))})"))
        head = getattr(statements[0], "leading_lines", ()) if statements else ()
        inner = [statements[0].with_changes(leading_lines=[]), *statements[1:]]
        return [cst.With(items=[item], body=cst.IndentedBlock(inner), leading_lines=head)]

    def _step(
        self, plan: TrainingStep, region: list[cst.BaseStatement], old: list[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        self._taken.add(plan)
        loss = self._steps.losses[plan.backward.call]
        function = self._forward(plan, region, loss)
        test = self._condition(plan, old)
        paired = any(p.instead is plan for p in self._steps.plans.steps)
        ready = None if paired else test
        prepared = preparation(plan, function, loss, self.spelling, ready)
        self._steps.before.setdefault(plan.anchor, [])
        made = backward_statements(plan, loss, test)
        lists = [cst.parse_statement(line) for line in self._steps.hoisted.get(plan, [])]
        self._steps.before[plan.anchor] += [*lists, *prepared]
        head = getattr(old[0], "leading_lines", ()) if old else ()
        made[0] = made[0].with_changes(leading_lines=head)
        return made

    def _forward(
        self, plan: TrainingStep, region: list[cst.BaseStatement], loss: cst.BaseExpression
    ) -> cst.FunctionDef:
        """The forward function; where one autocast() holds for all of it, as its decorator."""
        inner = [s for s in region if not is_gone(s)]
        precision = precision_of_step(plan, self._steps, self.context)
        if precision is None:
            return forward_function(plan, inner, loss)
        inner, text = without_blocks(inner, self.spelling.name("helpers.autocast"), precision)
        function = forward_function(plan, inner, loss)
        if not text:
            return function
        decorator = cst.Decorator(expression(text))
        return function.with_changes(decorators=[decorator])

    def _condition(
        self, plan: TrainingStep, old: list[cst.BaseStatement]
    ) -> cst.BaseExpression | None:
        """When the backward pass is run, where an `if` decides it."""
        guard = next((s for s in old if isinstance(s, cst.If)), None)
        if plan.guard is None or guard is None:
            return None
        test = guard.test
        if plan.backward.block is plan.guard.orelse:
            return cst.UnaryOperation(operator=cst.Not(), expression=expression(f"({code(test)})"))
        return test

    def _in_either(
        self,
        plan: TrainingStep,
        other: TrainingStep,
        region: list[cst.BaseStatement],
        old: list[cst.BaseStatement],
    ) -> list[cst.BaseStatement]:
        """`if scaler is not None: ... else: loss.backward()`: one of two steps is taken."""
        self._taken.add(other)
        losses = [self._steps.losses[one.backward.call] for one in (plan, other)]
        function = self._forward(other, region, losses[1])
        prepared = preparation(other, function, losses[1], self.spelling)
        self._steps.before[plan.anchor] += prepared
        test = self._condition(plan, old)
        assert test is not None
        lines = [gradient_lines(one, loss) for one, loss in zip((plan, other), losses, strict=True)]
        made = in_branches(test, *lines)
        return [made.with_changes(leading_lines=getattr(old[0], "leading_lines", ()))]

    def _plans_at(self, node: cst.CSTNode) -> list[TrainingStep]:
        """The step that a statement becomes, and the one of its other branch."""
        special = self._steps.plans.roles.get(self._steps.statement(node))
        if special is None or special[0] not in ("backward", "guard"):
            return []
        plans = self._steps.plans.steps
        return [special[1], *(p for p in plans if p.instead is special[1])]


class _Block:
    """A block of statements on its way to one with steps in it."""

    def __init__(self, plans: list[TrainingStep]) -> None:
        self.body: list[cst.BaseStatement] = []
        self.region: dict[ast.AST | None, list[TrainingStep]] = {}
        for plan in plans:
            for statement in plan.region:
                self.region.setdefault(statement, []).append(plan)
        # Of two steps of which one is taken, the first stands for both: what goes behind, goes
        # behind the `if` that chooses.
        self.deferred: dict[ast.AST | None, TrainingStep] = {}
        for plan in plans:
            for statement in plan.deferred:
                self.deferred.setdefault(statement, plan.instead or plan)
        self.detached: set[ast.AST] = {s for plan in plans for s in plan.detached}
        # The statements of a step's function, those behind it, where it starts.
        self.inside: dict[TrainingStep, list[cst.BaseStatement]] = {p: [] for p in plans}
        self.behind: dict[TrainingStep, list[cst.BaseStatement]] = {p: [] for p in plans}
        self.starts: dict[TrainingStep, int] = {}


def _statements(result: Any) -> list[Any]:
    if isinstance(result, cst.FlattenSentinel):
        return list(result)
    return [] if isinstance(result, cst.RemovalSentinel) else [result]
