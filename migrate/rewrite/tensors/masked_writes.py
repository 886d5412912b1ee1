"""`nearest[mask] = found[mask]` in code that may be compiled, training steps among it: Graph mode
writes only numbers to the places of a mask, so the whole tensor is chosen anew.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.resolve.values import is_tensor
from migrate.rewrite.node_pass import NodePass
from migrate.rewrite.tensors.aliases import seen_by
from migrate.rewrite.tensors.bitwise_not import is_boolean
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.nodes import expression
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["types", "compiled", "aliases"],
    examples=[
        becomes(
            "near = x * 2\nnear[x > 0] = y[x > 0]\nx = near",
            "near = x * 2\nnear = helpers.where_masked(near, x > 0, y)\nx = near",
        ),
    ],
)
class MaskedWrites(NodePass):
    """Rebinds the name of a tensor that is written to by a mask."""

    def propose_Assign(self, original: cst.Assign, updated: cst.Assign) -> cst.Assign | None:
        return self._by_mask(original, updated)

    def propose_AugAssign(
        self, original: cst.AugAssign, updated: cst.AugAssign
    ) -> cst.Assign | None:
        return self._by_mask(original, updated)

    def _by_mask(
        self, original: cst.Assign | cst.AugAssign, updated: cst.Assign | cst.AugAssign
    ) -> cst.Assign | None:
        """`x = helpers.where_masked(x, mask, values)`; None for any other statement."""
        partner = self.partner(original)
        target = partner.targets[0] if isinstance(partner, ast.Assign) else None
        if isinstance(partner, ast.AugAssign):
            target = partner.target
        place = updated.targets[0].target if isinstance(updated, cst.Assign) else updated.target
        if not isinstance(target, ast.Subscript) or not isinstance(place, cst.Subscript):
            return None
        assert isinstance(partner, (ast.Assign, ast.AugAssign))
        if not self._is_due(target, partner) or not isinstance(place.slice[0].slice, cst.Index):
            return None
        name, mask = code(place.value), code(place.slice[0].slice.value)
        value = code(updated.value)
        if isinstance(updated, cst.AugAssign):
            sign = code(updated.operator).strip().rstrip("=")
            value = f"{name}[{mask}] {sign} ({value})"
        elif _same_mask(partner.value, target.slice):
            assert isinstance(updated.value, cst.Subscript)
            helper = self.spelling.name("helpers.where_masked")
            new = f"{helper}({name}, {mask}, {code(updated.value.value)})"
            return updated.with_changes(targets=[_target(name)], value=expression(new))
        new = f"{self.spelling.name('helpers.put_masked')}({name}, {mask}, {value})"
        return cst.Assign(targets=[_target(name)], value=expression(new))

    def _is_due(self, target: ast.Subscript, statement: ast.Assign | ast.AugAssign) -> bool:
        value = statement.value
        return (
            isinstance(target.value, ast.Name)
            and is_made_here(target.value.id, self.file.around())
            and is_tensor(self.context.type(target.value))
            and not isinstance(target.slice, (ast.Tuple, ast.Slice, ast.Constant))
            and is_boolean(target.slice, self.function)
            and (is_tensor(self.context.type(value)) or isinstance(statement, ast.AugAssign))
            and (self.file.compiles(statement) or self.context.may_be_compiled(self.function))
            and not seen_by(target, self.context)
        )


def is_made_here(name: str, function: ast.AST | None) -> bool:
    """A variable of this function alone: whoever gave a parameter would miss the change."""
    return any(
        isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
        for node in all_nodes(function or ast.Module([], []))
    ) and not any(
        isinstance(node, ast.arg) and node.arg == name
        for node in all_nodes(function or ast.Module([], []))
    )


def _same_mask(value: ast.expr, mask: ast.expr) -> bool:
    return isinstance(value, ast.Subscript) and ast.unparse(value.slice) == ast.unparse(mask)


def _target(name: str) -> cst.AssignTarget:
    return cst.AssignTarget(cst.Name(name))
