"""`x + s` with a tensor `s` of no dimensions: in torch only its kind counts, as a number's does. A
float32 stays a float32 beside a float64; MindSpore takes the wider dtype for some operators.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.flow.dtypes import RANK, WHOLE
from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.resolve.values import is_tensor
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.nodes import atomic, expression
from migrate.syntax.text import code

Spine = tuple[ast.AST | None, int]  # the first leaf of a left operand, and the operations around it
# MindSpore's products and quotients follow torch's rule.
_WIDENING = (ast.Add, ast.Sub, ast.FloorDiv, ast.Mod, ast.Pow)


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    after={"numpy_operands": "what it makes of an operand is a number or a tensor by then"},
    examples=[
        becomes(
            "y = torch.ones(3).int() + torch.tensor(2)",
            "y = ops.ones(3).int() + mindspore.tensor(2).astype(mindspore.int32)",
        ),
        becomes(
            "s = x.double().sum()\ny = x - s",
            "s = x.double().sum()\ny = x - helpers.as_number(s, x)",
        ),
        becomes(
            "s = x.double().sum()\ny = (x + 1) - s",
            "s = x.double().sum()\ny = helpers.arithmetic(x + 1, '-', s)",
        ),
        becomes("y = torch.arange(3) + torch.tensor(2)", "y = ops.arange(3) + mindspore.tensor(2)"),
    ],
)
class ScalarOperands(NodePass):
    """Gives such an operand the dtype of the other one where it is known to be wider."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._sides: dict[Spine, tuple[str, str]] | None = None

    def leave_BinaryOperation(
        self, original: cst.BinaryOperation, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        if self._sides is None:
            self._sides = _scalar_sides(self.context.tree, self.context)
        if not self._sides or not isinstance(updated, cst.BinaryOperation):
            return updated
        depth, leaf = 0, original.left
        while isinstance(leaf, cst.BinaryOperation | cst.UnaryOperation):
            depth += 1
            leaf = leaf.left if isinstance(leaf, cst.BinaryOperation) else leaf.expression
        found = self._sides.get((self.partner(leaf), depth))
        if found is None:
            return updated
        side, dtype = found
        other = updated.left if side == "right" else updated.right
        scalar = getattr(updated, side)
        if isinstance(other, cst.Name):
            function = self.spelling.name("helpers.as_number")
            new = expression(f"{function}({code(_bare(scalar))}, {other.value})")
        elif dtype:
            name = self.spelling.name(f"mindspore.{dtype}")
            new = expression(f"{code(atomic(scalar))}.astype({name})")
        else:
            function = self.spelling.name("helpers.arithmetic")
            sides = code(_bare(updated.left)), code(_bare(updated.right))
            sign = code(updated.operator).strip()
            return expression(f"{function}({sides[0]}, {sign!r}, {sides[1]})")
        return updated.with_changes(**{side: new})


def _bare(node: cst.BaseExpression) -> cst.BaseExpression:
    return node if isinstance(node, cst.Tuple) else node.with_changes(lpar=[], rpar=[])


def _scalar_sides(tree: ast.Module, context: Context) -> dict[Spine, tuple[str, str]]:
    """Which operand has no dimensions and is too wide, and the dtype of the other one."""
    found: dict[Spine, tuple[str, str]] = {}
    for node in nodes_of(tree, ast.BinOp):
        if not isinstance(node.op, _WIDENING):
            continue
        for side, scalar, other in (
            ("right", node.right, node.left),
            ("left", node.left, node.right),
        ):
            if _widens(scalar, other, context):
                depth, leaf = 0, node.left
                while isinstance(leaf, ast.BinOp | ast.UnaryOp):
                    depth += 1
                    leaf = leaf.left if isinstance(leaf, ast.BinOp) else leaf.operand
                found[leaf, depth] = side, context.flow.dtypes.of(other)
    return found


def _widens(scalar: ast.expr, other: ast.expr, context: Context) -> bool:
    dtypes = context.flow.dtypes
    if not is_tensor(context.type(other)) or not dtypes.is_scalar(scalar):
        return False
    if dtypes.is_scalar(other):
        return False
    wide, narrow = dtypes.of(scalar), dtypes.of(other)
    if wide == "float64":
        return narrow != "float64"
    if not narrow and wide == "int64":
        return True  # beside a narrower one, or a float
    if wide not in RANK or narrow not in RANK or (wide in WHOLE) != (narrow in WHOLE):
        return False
    return narrow != "bool" and RANK.index(wide) > RANK.index(narrow)
