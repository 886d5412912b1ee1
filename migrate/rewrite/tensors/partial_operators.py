"""Operators that MindSpore has in part: `q * rotation` of complex tensors has no gradient, and
compiled code knows `^` of numbers only.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.graph_mode.compiled_code import CompiledCode
from migrate.resolve.values import BOOL, is_tensor, options_of, same
from migrate.rewrite.tensors.value_kinds import is_complex
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.nodes import atomic, expression

_MAKERS = ("complex", "polar", "fft")  # most files name none of them
Spine = tuple[int, int]  # the first leaf of a left operand, and the operations around it


class PartialOperators(CompiledCode):
    """Writes them in forms that it has in full."""

    _complex_left: set[Spine] | None = None

    def leave_BinaryOperation(
        self, original_node: cst.BinaryOperation, updated_node: cst.BinaryOperation
    ) -> cst.BaseExpression:
        if isinstance(original_node.operator, cst.BitXor):
            return self._unequal(original_node, updated_node)
        if isinstance(original_node.operator, cst.LeftShift | cst.RightShift):
            return self._shifted(original_node, updated_node)
        if isinstance(original_node.operator, cst.Power) and self.is_compiled(self.function):
            return _of_whole_power(updated_node)
        if not isinstance(original_node.operator, cst.Multiply):
            return updated_node
        if self._complex_left is None:
            scope = self.context.resolution.scope
            text = "\n".join(self.context.lines)
            makes = scope is not None and any(word in text for word in _MAKERS)
            self._complex_left = _complex_products(scope.tree) if scope and makes else set()
        depth, leaf = 0, original_node.left
        while isinstance(leaf, cst.BinaryOperation):
            depth, leaf = depth + 1, leaf.left
        if (id(self.partner(leaf)), depth) not in self._complex_left:
            return updated_node
        sides = [updated_node.left, updated_node.right]
        return cst.Call(
            func=expression(self.spelling.name("helpers.complex_product")),
            args=[cst.Arg(self.bare(side).with_changes(lpar=[], rpar=[])) for side in sides],
        )

    def _shifted(
        self, original: cst.BinaryOperation, updated: cst.BinaryOperation
    ) -> cst.BaseExpression:
        """`i << 1`: tensors have no such operator."""
        leaf = original.left
        while isinstance(leaf, cst.BinaryOperation):
            leaf = leaf.left
        if not is_tensor(self.context.type(self.partner(leaf))):
            return updated
        left = isinstance(original.operator, cst.LeftShift)
        name = "mindspore.ops.bitwise_left_shift" if left else "mindspore.ops.bitwise_right_shift"
        sides = [updated.left, updated.right]
        return cst.Call(
            func=expression(self.spelling.name(name)),
            args=[cst.Arg(self.bare(one).with_changes(lpar=[], rpar=[])) for one in sides],
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


def _complex_products(tree: ast.Module) -> set[Spine]:
    """The left operands of all products in functions that make complex tensors."""
    found: set[Spine] = set()
    functions = [n for n in all_nodes(tree) if isinstance(n, ast.FunctionDef)]
    for function in functions:
        for node in ast.walk(function):
            if (
                isinstance(node, ast.BinOp)
                and isinstance(node.op, ast.Mult)
                and (is_complex(node.left, function) or is_complex(node.right, function))
            ):
                depth, leaf = 0, node.left
                while isinstance(leaf, ast.BinOp):
                    depth, leaf = depth + 1, leaf.left
                found.add((id(leaf), depth))
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
