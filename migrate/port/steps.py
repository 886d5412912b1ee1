"""Put planned training steps into the tree: forward functions in front of loops, gradients in
place of backward().
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import libcst as cst

from migrate.port.blocks import BlockRewriter
from migrate.port.context import Context, is_module_value
from migrate.port.nodes import code
from migrate.port.suites import is_gone
from migrate.port.train_step.plan import Plans, StepPlan, plan_steps
from migrate.port.train_step.write import (
    backward_statements,
    forward_function,
    preparation,
    special_statement,
)

_AUTOCAST = frozenset(
    {"torch.amp.autocast", "torch.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast"}
)


class StepRewriter(BlockRewriter):
    """Moves whole statements, once everything inside them has been rewritten."""

    def __init__(self, context: Context, tree: ast.Module) -> None:
        super().__init__(context, tree)
        self.plans: Plans = plan_steps(tree, context, set(context.spelling.taken))
        self.active = bool(self.plans.by_block)
        self.produced: dict[
            int, list[cst.BaseStatement]
        ] = {}  # original statement -> what it became
        self.before: dict[
            int, list[cst.BaseStatement]
        ] = {}  # stdlib statement -> put in front of it
        self.losses: dict[int, cst.BaseExpression] = {}  # backward call -> rewritten loss
        self.casts: set[int] = set()  # statements that switch a model to mixed precision

    # Expressions ----------------------------------------------------------------------------------

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        partner = self.partner(original_node)
        if id(partner) not in self.plans.handled:
            return super().leave_Call(original_node, updated_node)
        if (
            isinstance(updated_node.func, cst.Attribute)
            and updated_node.func.attr.value == "backward"
        ):
            self.losses[id(partner)] = updated_node.func.value
        self.context.ported += 1
        return updated_node

    # Statements -----------------------------------------------------------------------------------

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        special = self.plans.statements.get(id(self._statement(original_node)))
        if special is not None and special[0] != "backward":
            updated_node = self._special(special, updated_node)
        result = super().leave_SimpleStatementLine(original_node, updated_node)
        self._remember(original_node, [result])
        return result

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
        return self._remembered(original_node, super().leave_ClassDef(original_node, updated_node))

    def visit_With(self, node: cst.With) -> None:
        super().visit_With(node)
        partner = self.partner(node)
        for item in getattr(partner, "items", ()):
            if self._is_autocast(item.context_expr):
                self.plans.handled.add(id(item.context_expr))

    def _is_autocast(self, call: ast.expr) -> bool:
        usage = self.context.usage(call.func) if isinstance(call, ast.Call) else None
        return usage is not None and usage.api in _AUTOCAST

    def leave_With(self, original_node: cst.With, updated_node: cst.With) -> Any:
        casts = self._autocasts(original_node, updated_node)
        result = super().leave_With(original_node, updated_node)
        if casts:
            statements = list(result) if isinstance(result, cst.FlattenSentinel) else [result]
            result = cst.FlattenSentinel([*casts, *statements])
        return self._remembered(original_node, result)

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

    # Mixed precision ------------------------------------------------------------------------------

    def _autocasts(self, original: cst.With, updated: cst.With) -> list[cst.BaseStatement]:
        """`with autocast():` has no counterpart as a block.

        The models called in it are switched over instead.
        """
        partner = self.partner(original)
        if not isinstance(partner, ast.With):
            return []
        statements: list[cst.BaseStatement] = []
        for item, new in zip(partner.items, updated.items, strict=True):
            call = item.context_expr
            if not isinstance(call, ast.Call) or not self._is_autocast(call):
                continue
            self._kept.append(new.item)
            self.vanished.add(id(new.item))
            options = "".join(
                f", {keyword.arg}={self._rewritten(keyword.value)}"
                for keyword in call.keywords
                if keyword.arg in ("enabled", "dtype")
            )
            for model in self._models_called(partner):
                line = f"{self.spelling.name('helpers.mixed_precision')}({model}{options})"
                statement = cst.parse_statement(line)
                self.casts.add(id(statement))
                self._kept.append(statement)
                statements.append(statement)
        return statements

    def _rewritten(self, node: ast.expr) -> str:
        """A small argument in its MindSpore spelling."""
        usage = self.context.usage(node)
        entry = self.table.get(usage.api) if usage else None
        if entry is not None and entry.main.mindspore:
            return self.spelling.name(entry.main.mindspore)
        return ast.unparse(node)

    def _models_called(self, block: ast.With) -> list[str]:
        found: dict[str, None] = {}
        for node in ast.walk(block):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = ast.unparse(node.func)
                last = name.rpartition(".")[2].lower()
                if is_module_value(self.context.type(node.func)) and not any(
                    w in last for w in ("loss", "criterion")
                ):
                    found[name] = None
        return list(found)

    # Blocks ---------------------------------------------------------------------------------------

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        body = self.arranged(original_node.body, list(updated_node.body))
        return super().leave_IndentedBlock(original_node, updated_node.with_changes(body=body))

    def arranged(
        self, original: Sequence[cst.CSTNode], updated: list[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        """The statements of a block with its training steps in their new form."""
        if not self.active:
            return updated
        plans = [plan for node in original for plan in self._plans_at(node)]
        if not plans and not any(id(self._statement(node)) in self.before for node in original):
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
                for plan in region[id(partner)]:
                    starts.setdefault(id(plan), len(body))
                    inside[id(plan)] += statements
            elif id(partner) in later:
                behind[id(later[id(partner)])] += statements
            elif self._plans_at(node):
                plan = self._plans_at(node)[0]
                made = self._step(plan, inside[id(plan)], statements)
                start = starts.get(id(plan), len(body))
                body[start:start] = (
                    self.before.pop(id(plan.anchor), []) if plan.anchor in plan.region else []
                )
                body += [*made, *behind[id(plan)]]
            else:
                body += statements
        return body

    def _step(
        self, plan: StepPlan, region: list[cst.BaseStatement], old: list[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        loss = self.losses[id(plan.backward.call)]
        casts = [statement for statement in region if id(statement) in self.casts]
        inner = [s for s in region if id(s) not in self.casts and not is_gone(s)]
        function = forward_function(plan, inner, loss)
        prepared = preparation(plan, function, loss, self.spelling, self.plans.distributed)
        self.before.setdefault(id(plan.anchor), [])
        made = backward_statements(plan, loss, self.spelling, self.plans.distributed)
        if plan.unconditional:
            prepared = [*casts, *prepared]
        else:
            made = [*casts, *made]  # only the branch that asks for it
        self.before[id(plan.anchor)] += prepared
        head = getattr(old[0], "leading_lines", ()) if old else ()
        made[0] = made[0].with_changes(leading_lines=head)
        return made

    def _plans_at(self, node: cst.CSTNode) -> list[StepPlan]:
        special = self.plans.statements.get(id(self._statement(node)))
        return [special[1]] if special is not None and special[0] == "backward" else []

    def _statement(self, node: cst.CSTNode) -> ast.AST | None:
        """The stdlib statement of a libcst statement."""
        if isinstance(node, cst.SimpleStatementLine):
            return self.partner(node.body[0]) if node.body else None
        return self.partner(node)
