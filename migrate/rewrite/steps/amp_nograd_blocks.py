"""Blocks that only set the stage for a step: mixed precision, and code without gradients."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.context import is_module_value
from migrate.pipeline.refusal import Refusal
from migrate.plan.no_gradient import chosen_mode, stops_gradient
from migrate.rewrite.effects import Effects
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.steps.step_state import StepState, precision_of
from migrate.syntax.nodes import expression
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["usages", "types", "steps"],
    examples=[
        becomes(
            """
            @torch.autocast("cuda", enabled=False)
            def loss(x: torch.Tensor):
                return x.sum()
            """,
            """
            def loss(x: Tensor):
                return x.sum()
            """,
        ),
    ],
)
class AmpNogradBlocks(NodePass):
    """`with autocast():` and `with torch.no_grad():` around the statements of a step."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._steps = file.shared(StepState)
        self._effects = file.shared(Effects)

    def visit_With(self, node: cst.With) -> None:
        partner = self.partner(node)
        for item in getattr(partner, "items", ()):
            if self._steps.is_autocast(item.context_expr):
                self._steps.plans.handled.add(id(item.context_expr))

    def leave_With(self, original: cst.With, updated: cst.With) -> cst.With:
        partner = self.partner(original)
        if self._steps.plans.taped and isinstance(partner, ast.With):
            updated = self._unrecorded(partner, updated)
        elif isinstance(partner, ast.With):
            self._drop_chosen(partner, updated)
        casts = self._autocasts(original, updated)
        if casts:
            self._steps.before_block[original] = casts
        return updated

    def propose_Decorator(
        self, original: cst.Decorator, updated: cst.Decorator
    ) -> cst.RemovalSentinel | None:
        """`@autocast("cuda", enabled=False)`: precision is set per Cell here, not per function."""
        partner = self.partner(original.decorator)
        if not isinstance(partner, ast.Call) or not self._steps.is_autocast(partner):
            return None
        off = "enabled=False" in precision_of(original.decorator).replace(" ", "")
        if not off:
            reason = "a single function is not cast to lower precision here"
            step = "cast the model with mindspore.amp.auto_mixed_precision, or the tensors in it"
            self.flag(partner, Refusal(reason, step, "MS301"), "torch.amp.autocast")
        return cst.RemoveFromParent()

    def _autocasts(self, original: cst.With, updated: cst.With) -> list[cst.BaseStatement]:
        """`with autocast():` has no counterpart as a block.

        The models called in it are switched over instead.
        """
        partner = self.partner(original)
        if not isinstance(partner, ast.With):
            return []
        statements: list[cst.BaseStatement] = []
        for item, new in zip(partner.items, updated.items, strict=True):
            kept = ast.unparse(item.context_expr) in self._steps.held_contexts
            if not kept and not self._steps.is_autocast(item.context_expr):
                continue
            self._effects.removed.add(new.item)
            for model in self._models_called(partner):
                cast = self.spelling.name("helpers.mixed_precision")
                options = precision_of(new.item)
                line = f"{cast}({model}{', ' if options else ''}{options})"
                if kept:
                    line = f"{self.spelling.name('helpers.cast_within')}({code(new.item)}, {model})"
                statement = cst.parse_statement(line)
                self._steps.casts.add(statement)
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

    def _drop_chosen(self, partner: ast.With, updated: cst.With) -> None:
        """`with ctx:` where `ctx` switches gradients on or off: values are cut instead."""
        body = getattr(self.function, "body", self.context.tree.body)
        for item, new in zip(partner.items, updated.items, strict=True):
            named = isinstance(item.context_expr, ast.Name | ast.IfExp)
            if named and chosen_mode(item.context_expr, body, self.context) is not None:
                self._effects.removed.add(new.item)

    def _unrecorded(self, partner: ast.With, updated: cst.With) -> cst.With:
        """`with torch.no_grad():` stays where gradients are recorded."""
        items = [
            new.with_changes(item=expression(f"{self.spelling.name('helpers.no_grad')}()"))
            if stops_gradient(old.context_expr, self.context)
            else new
            for old, new in zip(partner.items, updated.items, strict=True)
        ]
        return updated.with_changes(items=items)
