"""The statement that a change in place becomes."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline.refusal import Refusal
from migrate.rewrite.calls.call_sites import CallSites, is_tensor_data
from migrate.rewrite.effects import Change, Effects
from migrate.rewrite.node_pass import FileAccess, FileRewrite
from migrate.rewrite.tensors.maybe_parameter import may_be_plain
from migrate.rewrite.tensors.mutation_scope import MutationScope
from migrate.rewrite.tensors.write_forms import (
    assign_targets,
    assigned,
    changed_in_place,
    detached_in_place,
    without_gradient,
)


class ChangedStatements(FileAccess):
    """Asked for changes that stand alone, and for those in the middle of an expression."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)
        self._scope = file.shared(MutationScope)
        self._sites = file.shared(CallSites)

    def written(
        self, change: Change, value: cst.BaseExpression, updated: cst.Expr
    ) -> cst.BaseSmallStatement:
        """A statement that changes a tensor in place."""
        place, usage = change.place, change.usage
        changed = self._effects.gathered.get(change.tensor, change.tensor)
        value = self._scope.of_left_dtype(place, value)
        if usage is not None and usage.api == "torch.Tensor.detach_" and self._is_leaf(place):
            return self._frozen(changed, place)
        if self._sites.is_parameter(place):
            if isinstance(changed, cst.Name) and may_be_plain(place, self.function, self.context):
                return changed_in_place(changed, self._effects.bare(value), self.spelling)
            return updated.with_changes(value=assigned(changed, value, self.spelling))
        form = self._scope.form(place, usage)
        if form.kind == "through":
            return updated.with_changes(value=self._scope.set_value(changed, value))
        if isinstance(changed, (cst.Name, cst.Subscript, cst.Attribute)):
            return cst.Assign(targets=assign_targets(changed, form.names), value=value)
        # The receiver is a value nobody else holds: changing it has no effect that anyone sees.
        self.flag(
            place,
            Refusal(
                "changes a temporary value in place",
                "assign the result to the tensor that is meant",
                "MS403",
            ),
            usage.api if usage else "",
        )
        return updated

    def _is_leaf(self, place: ast.expr) -> bool:
        return self._sites.is_parameter(place) and not is_tensor_data(place, self.context)

    def _frozen(self, changed: cst.BaseExpression, place: ast.expr) -> cst.Assign:
        """`p.detach_()` of a Parameter: its value stays, and it is trained no more."""
        if isinstance(changed, cst.Name) and may_be_plain(place, self.function, self.context):
            return detached_in_place(changed, self.spelling)
        return without_gradient(changed)
