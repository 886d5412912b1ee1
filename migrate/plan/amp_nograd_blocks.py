"""Blocks that only set the stage for a step: mixed precision, and code without gradients."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.plan.no_gradient import stops_gradient
from migrate.plan.step_calls import StepCalls, precision_of
from migrate.rewrite.calls.call import Refusal
from migrate.rewrite.context import is_module_value
from migrate.syntax.nodes import expression
from migrate.syntax.text import code


class StageBlocks(StepCalls):
    """`with autocast():` and `with torch.no_grad():` around the statements of a step."""

    def visit_With(self, node: cst.With) -> None:
        super().visit_With(node)
        partner = self.partner(node)
        for item in getattr(partner, "items", ()):
            if self._is_autocast(item.context_expr):
                self.plans.handled.add(id(item.context_expr))

    def leave_Decorator(
        self, original_node: cst.Decorator, updated_node: cst.Decorator
    ) -> cst.Decorator | cst.RemovalSentinel:
        """`@autocast("cuda", enabled=False)`: precision is set per Cell here, not per function."""
        partner = self.partner(original_node.decorator)
        if not isinstance(partner, ast.Call) or not self._is_autocast(partner):
            return super().leave_Decorator(original_node, updated_node)
        off = "enabled=False" in precision_of(original_node.decorator).replace(" ", "")
        if not off:
            reason = "a single function is not cast to lower precision here"
            step = "cast the model with mindspore.amp.auto_mixed_precision, or the tensors in it"
            self.flag(partner, Refusal(reason, step, "MS301"), "torch.amp.autocast")
        return cst.RemoveFromParent()

    def _statement(self, node: cst.CSTNode) -> ast.AST | None:
        """The stdlib statement of a libcst statement."""
        if isinstance(node, cst.SimpleStatementLine):
            return self.partner(node.body[0]) if node.body else None
        return self.partner(node)

    def _autocasts(self, original: cst.With, updated: cst.With) -> list[cst.BaseStatement]:
        """`with autocast():` has no counterpart as a block.

        The models called in it are switched over instead.
        """
        partner = self.partner(original)
        if not isinstance(partner, ast.With):
            return []
        statements: list[cst.BaseStatement] = []
        for item, new in zip(partner.items, updated.items, strict=True):
            kept = ast.unparse(item.context_expr) in self.kept_contexts
            if not kept and not self._is_autocast(item.context_expr):
                continue
            self._kept.append(new.item)
            self.vanished.add(id(new.item))
            for model in self._models_called(partner):
                cast = self.spelling.name("helpers.mixed_precision")
                options = precision_of(new.item)
                line = f"{cast}({model}{', ' if options else ''}{options})"
                if kept:
                    line = f"{self.spelling.name('helpers.cast_within')}({code(new.item)}, {model})"
                statement = cst.parse_statement(line)
                self.casts.add(id(statement))
                self._kept.append(statement)
                statements.append(statement)
        return statements

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

    def _unrecorded(self, partner: ast.With, updated: cst.With) -> cst.With:
        """`with torch.no_grad():` stays where gradients are recorded."""
        items = [
            new.with_changes(item=expression(f"{self.spelling.name('helpers.no_grad')}()"))
            if stops_gradient(old.context_expr, self.context)
            else new
            for old, new in zip(partner.items, updated.items, strict=True)
        ]
        return updated.with_changes(items=items)
