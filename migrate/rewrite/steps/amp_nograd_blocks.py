"""Blocks that only set the stage for a step: mixed precision, and code without gradients."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.flow.grad_mode import chosen_mode, stops_gradient
from migrate.pipeline import becomes, declare
from migrate.rewrite.effects import Effects
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.steps.step_state import StepState
from migrate.syntax.nodes import expression


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
            @helpers.autocast("cuda", enabled=False)
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

    def leave_With(self, original: cst.With, updated: cst.With) -> cst.With:
        partner = self.partner(original)
        if self._steps.plans.tape and isinstance(partner, ast.With):
            updated = self._unrecorded(partner, updated)
        elif isinstance(partner, ast.With):
            self._drop_chosen(partner, updated)
        return updated

    def _drop_chosen(self, partner: ast.With, updated: cst.With) -> None:
        """`with ctx:` where `ctx` switches gradients on or off: values are cut instead."""
        body = getattr(self.function, "body", self.context.tree.body)
        for item, new in zip(partner.items, updated.items, strict=True):
            named = isinstance(item.context_expr, (ast.Name, ast.IfExp))
            if named and chosen_mode(item.context_expr, body, self.context.flow) is not None:
                self._effects.removed.add(new.item)

    def _unrecorded(self, partner: ast.With, updated: cst.With) -> cst.With:
        """`with torch.no_grad():` stays where gradients are recorded."""
        items = [
            new.with_changes(item=expression(f"{self.spelling.name('helpers.no_grad')}()"))
            if stops_gradient(old.context_expr, self.context.flow)
            else new
            for old, new in zip(partner.items, updated.items, strict=True)
        ]
        return updated.with_changes(items=items)
