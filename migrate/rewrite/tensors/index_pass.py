"""The frame of passes over `x[...]` of tensors: reads by several indices, and writes."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.resolve.values import is_tensor
from migrate.rewrite.calls.call_sites import subscripted
from migrate.rewrite.effects import Effects
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.tensors.index_parts import index_of


class IndexPass(NodePass):
    """Subclasses say what becomes of a read, of a write, or of both; None leaves it as it is."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)

    def read(self, index: ast.Tuple, updated: cst.Subscript) -> cst.BaseExpression | None:
        """`x[a, b]` where it is read."""
        return None

    def write(
        self, goal: ast.Subscript, place: cst.Subscript, statement: cst.Assign | cst.AugAssign
    ) -> cst.Assign | None:
        """`x[a] = y` and `x[a] += y`."""
        return None

    def propose_Subscript(
        self, original: cst.Subscript, updated: cst.Subscript
    ) -> cst.BaseExpression | None:
        if len(updated.slice) < 2 or original in self._effects.subscript_targets:
            return None
        if not is_tensor(self.context.type(self.partner(subscripted(original)))):
            return None
        index = index_of(original, self.context.tree, self.partner)
        return self.read(index, updated) if index is not None else None

    def propose_Assign(self, original: cst.Assign, updated: cst.Assign) -> cst.Assign | None:
        partner = self.partner(original)
        if not isinstance(partner, ast.Assign) or len(partner.targets) != 1:
            return None
        return self._written(partner.targets[0], updated.targets[0].target, updated)

    def propose_AugAssign(
        self, original: cst.AugAssign, updated: cst.AugAssign
    ) -> cst.Assign | None:
        partner = self.partner(original)
        assert isinstance(partner, ast.AugAssign)
        return self._written(partner.target, updated.target, updated)

    def _written(
        self, goal: ast.expr, place: cst.BaseExpression, statement: cst.Assign | cst.AugAssign
    ) -> cst.Assign | None:
        if not isinstance(goal, ast.Subscript) or not isinstance(place, cst.Subscript):
            return None
        if not is_tensor(self.context.type(goal.value)):
            return None
        return self.write(goal, place, statement)
