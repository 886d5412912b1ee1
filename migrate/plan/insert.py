"""Put planned training steps into the tree: forward functions in front of loops, gradients in
place of backward().
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import libcst as cst

from migrate.plan.input_blocks import InputBlocks
from migrate.plan.names import statements_below
from migrate.plan.no_gradient import (
    is_decorated,
    names_cut,
    without_gradient,
)
from migrate.plan.param_grad_reads import overrides_step
from migrate.plan.step_plan import StepPlan
from migrate.plan.write import (
    backward_statements,
    forward_function,
    gradient_lines,
    in_branches,
    preparation,
    renamed,
    snapshots,
    special_statement,
)
from migrate.resolve.values import is_tensor
from migrate.rewrite.calls.call import Refusal
from migrate.rewrite.context import Context
from migrate.rewrite.statements.suites import is_gone
from migrate.syntax.node_pairs import JoinError
from migrate.syntax.nodes import expression, with_parts
from migrate.syntax.text import code


class StepRewriter(InputBlocks):
    """Moves whole statements, once everything inside them has been rewritten."""

    def __init__(self, context: Context, tree: ast.Module) -> None:
        super().__init__(context, tree)
        self.taken: set[int] = set()  # plans that stand in the tree

    def finish(self) -> None:
        """A step that was planned and is not there must not be lost without a word."""
        super().finish()
        plans = [plan for block in self.plans.by_block.values() for plan in block]
        lost = [plan for plan in plans if id(plan) not in self.taken]
        if lost:
            raise JoinError(f"the step at line {lost[0].backward.call.lineno} has no place")

    # Statements -----------------------------------------------------------------------------------

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> Any:
        special = self.plans.statements.get(id(self._statement(original_node)))
        if special is not None and special[0] not in ("backward", "host"):
            updated_node = self._special(special, updated_node)
        result = super().leave_SimpleStatementLine(original_node, updated_node)
        if self.changes_part(original_node, result):
            statements = self.in_a_copy(result)
            self._remember(original_node, statements)
            return cst.FlattenSentinel(statements)
        added = self._behind(id(self._statement(original_node)))
        self._remember(original_node, [result, *added])
        return cst.FlattenSentinel([result, *added]) if added else result

    def _behind(self, statement: int) -> list[cst.BaseStatement]:
        """What comes to stand behind a statement."""
        models = self.plans.switches.after.get(statement, [])
        lines = [f"{model}.set_train()" for model in models]
        integers = self.counted_integers.get(statement)
        if integers:
            stop = self.spelling.name("mindspore.ops.stop_gradient")
            lines.append(f"{integers} = {stop}({integers})")
        return [cst.parse_statement(line) for line in lines]

    def _special(
        self, special: tuple[str, StepPlan, str], node: cst.SimpleStatementLine
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

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> Any:
        return self._remembered(original_node, super().leave_If(original_node, updated_node))

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> Any:
        return self._remembered(original_node, super().leave_For(original_node, updated_node))

    def leave_While(self, original_node: cst.While, updated_node: cst.While) -> Any:
        return self._remembered(original_node, super().leave_While(original_node, updated_node))

    def leave_Try(self, original_node: cst.Try, updated_node: cst.Try) -> Any:
        return self._remembered(original_node, super().leave_Try(original_node, updated_node))

    def leave_TryStar(self, original_node: cst.TryStar, updated_node: cst.TryStar) -> Any:
        return self._remembered(original_node, updated_node)

    def leave_Match(self, original_node: cst.Match, updated_node: cst.Match) -> Any:
        return self._remembered(original_node, updated_node)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> Any:
        return self._remembered(
            original_node, super().leave_FunctionDef(original_node, updated_node)
        )

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> Any:
        partner = self.partner(original_node)
        if isinstance(partner, ast.ClassDef) and overrides_step(partner, self.context):
            reason = "step() is written anew over that of an optimizer of torch's"
            step = "derive from torch.optim.Optimizer and write the whole update, or construct()"
            self.flag(partner, Refusal(f"{reason}, and MindSpore does not call it", step, "MS408"))
        return self._remembered(original_node, super().leave_ClassDef(original_node, updated_node))

    def leave_With(self, original_node: cst.With, updated_node: cst.With) -> Any:
        partner = self.partner(original_node)
        if self.plans.taped and isinstance(partner, ast.With):
            updated_node = self._unrecorded(partner, updated_node)
        casts = self._autocasts(original_node, updated_node)
        result = super().leave_With(original_node, updated_node)
        cuts = self._cuts(original_node)
        if casts or cuts:
            statements = list(result) if isinstance(result, cst.FlattenSentinel) else [result]
            result = cst.FlattenSentinel([*casts, *statements, *cuts])
        return self._remembered(original_node, result)

    # Without gradients ----------------------------------------------------------------------------

    def _cuts(self, node: cst.With) -> list[cst.BaseStatement]:
        """`with torch.no_grad():` goes; its results must not carry gradients all the same."""
        partner, function = self.partner(node), self.function
        if not isinstance(partner, ast.With) or not isinstance(function, ast.FunctionDef):
            return []
        if self.plans.taped:
            return []
        if not without_gradient(partner, self.context) or is_decorated(function, self.context):
            return []
        moved = {id(s) for plans in self.plans.by_block.values() for p in plans for s in p.region}
        trains = any(id(s) in self.plans.statements for _, s in statements_below(function.body))
        if trains and id(partner) not in moved:
            return []  # an input of the step: value_and_grad takes no gradient of it
        is_method = any(function in cls.node.body for cls in self.context.module_classes.values())
        names = names_cut(partner, function, is_method, self.context)
        stop = self.spelling.name("mindspore.ops.stop_gradient") if names else ""
        return [cst.parse_statement(f"{name} = {stop}({name})") for name in names]

    def leave_Expr(self, original_node: cst.Expr, updated_node: cst.Expr) -> Any:
        """`model.to(device)` has become `model`: nothing is left to do."""
        new = updated_node.value
        if self.active and isinstance(original_node.value, cst.Call) and isinstance(new, cst.Name):
            return cst.RemoveFromParent()
        return super().leave_Expr(original_node, updated_node)

    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        updated_node = super().leave_Return(original_node, updated_node)
        partner = self.partner(original_node)
        value = getattr(partner, "value", None)
        if (
            updated_node.value is None
            or not is_decorated(self.function, self.context)
            or not is_tensor(self.context.type(value))
        ):
            return updated_node
        stop = expression(self.spelling.name("mindspore.ops.stop_gradient"))
        bare = updated_node.value.with_changes(lpar=[], rpar=[])
        return updated_node.with_changes(value=cst.Call(func=stop, args=[cst.Arg(bare)]))

    def _remembered(self, original: cst.CSTNode, result: Any) -> Any:
        if isinstance(result, cst.FlattenSentinel):
            self._remember(original, list(result))
        elif isinstance(result, cst.RemovalSentinel):
            self._remember(original, [])
        else:
            self._remember(original, [result])
        return result

    def _remember(self, original: cst.CSTNode, statements: list[cst.BaseStatement]) -> None:
        if self.active:
            self.produced[id(original)] = statements

    # Blocks ---------------------------------------------------------------------------------------

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        body = self.arranged(original_node.body, list(updated_node.body))
        return super().leave_IndentedBlock(original_node, with_parts(updated_node, body=body))

    def arranged(
        self, original: Sequence[cst.CSTNode], updated: list[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        """The statements of a block with its training steps in their new form."""
        if not self.active:
            return updated
        differentiated = self.differentiated(original)
        plans = [plan for node in original for plan in self._plans_at(node)]
        if (
            not plans
            and not differentiated
            and not any(id(self._statement(node)) in self.before for node in original)
        ):
            return updated
        region: dict[int, list[StepPlan]] = {}
        for plan in plans:
            for statement in plan.region:
                region.setdefault(id(statement), []).append(plan)
        later = {id(s): plan for plan in plans for s in plan.later}
        inside: dict[int, list[cst.BaseStatement]] = {id(plan): [] for plan in plans}
        behind: dict[int, list[cst.BaseStatement]] = {id(plan): [] for plan in plans}
        body: list[cst.BaseStatement] = []
        starts: dict[int, int] = {}
        for node in original:
            partner = self._statement(node)
            statements = self.produced.get(id(node), [])
            body += self.before.pop(id(partner), [])
            if id(partner) in region:
                if any(partner is one for plan in plans for one in plan.detached):
                    body += self._for_data(partner, statements)
                for plan in region[id(partner)]:
                    starts.setdefault(id(plan), len(body))
                    inside[id(plan)] += [*statements, *snapshots(plan, partner)]
            elif id(partner) in later:
                plan = later[id(partner)]
                behind[id(plan)] += renamed(plan, partner, statements)
            elif self._plans_at(node):
                plan, *others = self._plans_at(node)
                made = self._step(plan, inside[id(plan)], statements)
                for other in others:
                    made = self._in_either(plan, other, inside[id(other)], statements)
                start = starts.get(id(plan), len(body))
                here = [*plan.region, plan.backward.statement]
                body[start:start] = (
                    self.before.pop(id(plan.anchor), []) if plan.anchor in here else []
                )
                body += [*made, *behind[id(plan)]]
                if plan.host is not None:
                    body += statements
            else:
                body += statements
        return body

    def _for_data(
        self, partner: ast.AST | None, statements: list[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        """`fake = generator(z)`, detached in one step and differentiated in the next: here its
        value is enough, and the running statistics are the next one's to change.
        """
        calls = [n.func for n in ast.walk(partner or ast.Pass()) if isinstance(n, ast.Call)]
        models = [ast.unparse(f) for f in calls if self.context.usage(f) is None]
        if not models:
            return statements
        keep = self.spelling.name("helpers.statistics_kept")
        item = cst.WithItem(expression(f"{keep}({', '.join(dict.fromkeys(models))})"))
        head = getattr(statements[0], "leading_lines", ()) if statements else ()
        inner = [statements[0].with_changes(leading_lines=[]), *statements[1:]]
        return [cst.With(items=[item], body=cst.IndentedBlock(inner), leading_lines=head)]

    def _step(
        self, plan: StepPlan, region: list[cst.BaseStatement], old: list[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        self.taken.add(id(plan))
        loss = self.losses[id(plan.backward.call)]
        casts = [statement for statement in region if id(statement) in self.casts]
        inner = [s for s in region if id(s) not in self.casts and not is_gone(s)]
        function = forward_function(plan, inner, loss)
        test = self._condition(plan, old)
        paired = any(p.instead is plan for block in self.plans.by_block.values() for p in block)
        ready = None if paired else test
        prepared = preparation(plan, function, loss, self.spelling, ready)
        self.before.setdefault(id(plan.anchor), [])
        made = backward_statements(plan, loss, test)
        lists = [cst.parse_statement(line) for line in self.hoisted.get(id(plan), [])]
        prepared = [*lists, *prepared]
        if plan.unconditional:
            prepared = [*casts, *prepared]
        else:
            made = [*casts, *made]  # only the branch that asks for it
        self.before[id(plan.anchor)] += prepared
        head = getattr(old[0], "leading_lines", ()) if old else ()
        made[0] = made[0].with_changes(leading_lines=head)
        return made

    def _condition(self, plan: StepPlan, old: list[cst.BaseStatement]) -> cst.BaseExpression | None:
        """When the backward pass is run, where an `if` decides it."""
        host = next((s for s in old if isinstance(s, cst.If)), None)
        if plan.host is None or host is None:
            return None
        test = host.test
        if plan.backward.block is plan.host.orelse:
            return cst.UnaryOperation(operator=cst.Not(), expression=expression(f"({code(test)})"))
        return test

    def _in_either(
        self,
        plan: StepPlan,
        other: StepPlan,
        region: list[cst.BaseStatement],
        old: list[cst.BaseStatement],
    ) -> list[cst.BaseStatement]:
        """`if scaler is not None: ... else: loss.backward()`: one of two steps is taken."""
        self.taken.add(id(other))
        inner = [s for s in region if id(s) not in self.casts and not is_gone(s)]
        losses = [self.losses[id(one.backward.call)] for one in (plan, other)]
        function = forward_function(other, inner, losses[1])
        prepared = preparation(other, function, losses[1], self.spelling)
        self.before[id(plan.anchor)] += prepared
        test = self._condition(plan, old)
        assert test is not None
        lines = [gradient_lines(one, loss) for one, loss in zip((plan, other), losses, strict=True)]
        made = in_branches(test, *lines)
        return [made.with_changes(leading_lines=getattr(old[0], "leading_lines", ()))]

    def _plans_at(self, node: cst.CSTNode) -> list[StepPlan]:
        """The step that a statement becomes, and the one of its other branch."""
        special = self.plans.statements.get(id(self._statement(node)))
        if special is None or special[0] not in ("backward", "host"):
            return []
        plans = [plan for block in self.plans.by_block.values() for plan in block]
        return [special[1], *(p for p in plans if p.instead is special[1])]
