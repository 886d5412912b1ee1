"""Operators that MindSpore has in part: `q * rotation` of complex tensors has no gradient, and
compiled code knows `^` of numbers only.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.resolve.values import BOOL, is_tensor, options_of, same
from migrate.rewrite.effects import Effects
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.tensors.numpy_operands import Spine
from migrate.rewrite.tensors.value_kinds import is_complex
from migrate.syntax.ast_index import all_nodes, nodes_of
from migrate.syntax.nodes import atomic, expression

_MAKERS = ("complex", "polar", "fft")  # most files name none of them


@declare(
    phase="rewrite",
    unit="node",
    needs=["types", "compiled"],
    after={"numpy_operands": "an operand of numpy's is made a tensor's first"},
    examples=[
        becomes("x = x << 1", "x = ops.bitwise_left_shift(x, 1)"),
        becomes("x = 1 << x", "x = ops.bitwise_left_shift(1, x)"),
        becomes(
            "def turn(x):\n    return torch.fft.rfft(x) / 2 * 1j",
            "def turn(x):\n"
            "    return helpers.complex_product(helpers.complex_quotient(ops.rfft(x), 2), 1j)",
        ),
    ],
)
class PartialOperators(NodePass):
    """Writes them in forms that it has in full."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)
        self._complex_left: set[Spine] | None = None

    def propose_BinaryOperation(
        self, original: cst.BinaryOperation, updated: cst.BinaryOperation
    ) -> cst.BaseExpression | None:
        if isinstance(original.operator, cst.BitXor):
            return self._unequal(original, updated)
        if isinstance(original.operator, (cst.LeftShift, cst.RightShift)):
            return self._shifted(original, updated)
        power = isinstance(original.operator, cst.Power)
        if power and self.file.compiles(self.partner(original)):
            return _of_whole_power(updated)
        if not isinstance(original.operator, (cst.Multiply, cst.Divide)):
            return updated
        if self._complex_left is None:
            scope = self.context.resolution.scope
            self._complex_left = (
                _complex_products(scope.tree)
                if scope and _makes_complex(scope.tree, self.context.lines)
                else set()
            )
        depth, leaf = 0, original.left
        while isinstance(leaf, cst.BinaryOperation):
            depth, leaf = depth + 1, leaf.left
        if (self.partner(leaf), depth) not in self._complex_left and not _is_imaginary(original):
            return updated
        sides = [updated.left, updated.right]
        name = "product" if isinstance(original.operator, cst.Multiply) else "quotient"
        return cst.Call(
            func=expression(self.spelling.name(f"helpers.complex_{name}")),
            args=[
                cst.Arg(self._effects.bare(side).with_changes(lpar=[], rpar=[])) for side in sides
            ],
        )

    def _shifted(
        self, original: cst.BinaryOperation, updated: cst.BinaryOperation
    ) -> cst.BaseExpression:
        """`i << 1`, `1 << i`: tensors have no such operator."""
        sides_before = [original.left, original.right]
        for number, leaf in enumerate(sides_before):
            while isinstance(leaf, (cst.BinaryOperation, cst.Subscript)):
                leaf = leaf.left if isinstance(leaf, cst.BinaryOperation) else leaf.value
            sides_before[number] = leaf
        if not any(is_tensor(self.context.type(self.partner(leaf))) for leaf in sides_before):
            return updated
        left = isinstance(original.operator, cst.LeftShift)
        name = "mindspore.ops.bitwise_left_shift" if left else "mindspore.ops.bitwise_right_shift"
        sides = [updated.left, updated.right]
        return cst.Call(
            func=expression(self.spelling.name(name)),
            args=[cst.Arg(self._effects.bare(one).with_changes(lpar=[], rpar=[])) for one in sides],
        )

    def _unequal(
        self, original: cst.BinaryOperation, updated: cst.BinaryOperation
    ) -> cst.BaseExpression:
        """`exists(a) ^ exists(b)`: compiled code takes the sign for numbers alone."""
        sides = [self.context.type(self.partner(s)) for s in (original.left, original.right)]
        if not all(same(option, BOOL) for side in sides for option in options_of(side)):
            return updated
        return cst.Comparison(
            left=atomic(updated.left),
            comparisons=[cst.ComparisonTarget(cst.NotEqual(), atomic(updated.right))],
            lpar=updated.lpar or [cst.LeftParen()],
            rpar=updated.rpar or [cst.RightParen()],
        )


def _is_imaginary(node: cst.BaseExpression) -> bool:
    """`2 * 1j * t`: the walk knows no numbers' places."""
    if isinstance(node, cst.BinaryOperation):
        return _is_imaginary(node.left) or _is_imaginary(node.right)
    if isinstance(node, cst.UnaryOperation):
        return _is_imaginary(node.expression)
    return isinstance(node, cst.Imaginary)


def _makes_complex(tree: ast.Module, lines: Sequence[str]) -> bool:
    if any(word in line for word in _MAKERS for line in lines):
        return True
    return any(isinstance(node.value, complex) for node in nodes_of(tree, ast.Constant))


def _complex_products(tree: ast.Module) -> set[Spine]:
    """The left operands of products and quotients in functions that make complex tensors."""
    found: set[Spine] = set()
    for function in nodes_of(tree, ast.FunctionDef):
        for node in all_nodes(function):
            if (
                isinstance(node, ast.BinOp)
                and isinstance(node.op, (ast.Mult, ast.Div))
                and (is_complex(node.left, function) or is_complex(node.right, function))
            ):
                depth, leaf = 0, node.left
                while isinstance(leaf, ast.BinOp):
                    depth, leaf = depth + 1, leaf.left
                found.add((leaf, depth))
    return found


def _of_whole_power(power: cst.BinaryOperation) -> cst.BinaryOperation:
    """`n ** -1` as `n ** -1.0`: compiled, the power of two whole numbers is one, and that is 0."""
    exponent = power.right
    if (
        not isinstance(exponent, cst.UnaryOperation)
        or not isinstance(exponent.operator, cst.Minus)
        or not isinstance(exponent.expression, cst.Integer)
        or isinstance(power.left, cst.Float)
    ):
        return power
    number = cst.Float(f"{exponent.expression.evaluated_value}.0")
    return power.with_changes(right=exponent.with_changes(expression=number))
