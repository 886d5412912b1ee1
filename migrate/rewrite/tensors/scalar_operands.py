"""`x + s` with a tensor `s` of no dimensions: in torch only its kind counts, as a number's does. A
float32 stays a float32 beside a float64; MindSpore takes the wider dtype for some operators.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.resolve.values import is_tensor
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.ast_index import all_nodes, nodes_of
from migrate.syntax.nodes import atomic, expression
from migrate.syntax.text import code

Spine = tuple[ast.AST | None, int]  # the first leaf of a left operand, and the operations around it
# MindSpore's quotients follow torch's rule, and its products but for the narrowest dtypes.
_WIDENING = (ast.Add, ast.Sub, ast.FloorDiv, ast.Mod, ast.Pow, ast.Mult)
_WIDENING_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)
_WRONG_PRODUCTS = ("uint8", "int8")
# Functions of two tensors that take the wider dtype.
_FUNCTIONS = frozenset(
    """
    add atan2 bitwise_and bitwise_or bitwise_xor clamp clamp_max clamp_min clip floor_divide fmod
    hypot max maximum min minimum pow remainder rsub sub subtract where
    """.split()  # noqa: SIM905
)


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
        self._arguments: dict[Spine, ast.expr] | None = None

    def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
        """`torch.max(x, s)`, `x.clamp(min=s)`"""
        if self._arguments is None:
            self._arguments = _scalar_arguments(self.context.tree, self.context)
        if not self._arguments:
            return updated
        depth, leaf = 0, original.value
        while isinstance(leaf, cst.BinaryOperation | cst.UnaryOperation | cst.Subscript):
            depth += 1
            if isinstance(leaf, cst.BinaryOperation):
                leaf = leaf.left
            else:
                leaf = leaf.value if isinstance(leaf, cst.Subscript) else leaf.expression
        beside = self._arguments.get((self.partner(leaf), depth))
        if beside is None:
            return updated
        dtype = self.context.flow.dtypes.of(beside)
        if dtype:
            name = self.spelling.name(f"mindspore.{dtype}")
            return updated.with_changes(
                value=expression(f"{code(atomic(updated.value))}.astype({name})")
            )
        if any(isinstance(node, ast.Call) for node in all_nodes(beside)):
            return updated
        function = self.spelling.name("helpers.as_number")
        new = f"{function}({code(_bare(updated.value))}, {ast.unparse(beside)})"
        return updated.with_changes(value=expression(new))

    def leave_BinaryOperation(
        self, original: cst.BinaryOperation, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        if self._sides is None:
            self._sides = _scalar_sides(self.context.tree, self.context)
        if not self._sides or not isinstance(updated, cst.BinaryOperation):
            return updated
        depth, leaf = 0, original.left
        while isinstance(leaf, (cst.BinaryOperation, cst.UnaryOperation)):
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
        if not isinstance(node.op, _WIDENING + _WIDENING_BITS):
            continue
        for side, scalar, other in (
            ("right", node.right, node.left),
            ("left", node.left, node.right),
        ):
            if _is_due(node, scalar, other, context):
                depth, leaf = 0, node.left
                while isinstance(leaf, (ast.BinOp, ast.UnaryOp)):
                    depth += 1
                    leaf = leaf.left if isinstance(leaf, ast.BinOp) else leaf.operand
                found[leaf, depth] = side, context.flow.dtypes.of(other)
    return found


def _spine(node: ast.expr) -> Spine:
    depth = 0
    while isinstance(node, ast.BinOp | ast.UnaryOp | ast.Subscript):
        depth += 1
        if isinstance(node, ast.BinOp):
            node = node.left
        else:
            node = node.value if isinstance(node, ast.Subscript) else node.operand
    return node, depth


def _is_due(node: ast.BinOp, scalar: ast.expr, other: ast.expr, context: Context) -> bool:
    flow = context.flow
    if isinstance(node.op, ast.Mult) and flow.dtypes.of(other) not in _WRONG_PRODUCTS:
        return False
    return is_tensor(context.type(scalar)) and flow.scalars.widens(scalar, other)


def _scalar_arguments(tree: ast.Module, context: Context) -> dict[Spine, ast.expr]:
    """Arguments without dimensions that are too wide, with the tensor that they stand beside."""
    found: dict[Spine, ast.expr] = {}
    for call in nodes_of(tree, ast.Call):
        usage = context.usage(call.func)
        owner, _, name = usage.api.rpartition(".") if usage is not None else ("", "", "")
        if name not in _FUNCTIONS or owner not in ("torch", "torch.Tensor"):
            continue
        operands = [*call.args, *(k.value for k in call.keywords if k.arg != "dim")]
        if owner == "torch.Tensor" and isinstance(call.func, ast.Attribute):
            operands.insert(1 if name == "where" else 0, call.func.value)
        operands = operands[1:] if name == "where" else operands
        for scalar in call.args + [k.value for k in call.keywords]:
            beside = next((other for other in operands if other is not scalar), None)
            if (
                beside is not None
                and is_tensor(context.type(scalar))
                and context.flow.scalars.widens(scalar, beside)
            ):
                found[_spine(scalar)] = beside
    return found
