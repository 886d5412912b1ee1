"""`np.sqrt(2) * x`: numpy takes a MindSpore tensor for an array, and its gradient is lost.

torch's tensors tell numpy to leave such an operation to them.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.flow.mentions import any_mentions
from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.resolve.numpy_results import is_numpy
from migrate.resolve.values import UNKNOWN, Instance, Known, ListOf, is_tensor, options_of
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

Spine = tuple[ast.AST | None, int]  # the first leaf of a left operand, and the operations around it
_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.number", "builtins.bool"})
# Builtins that give a number for numbers.
_OF_NUMBERS = frozenset({"abs", "float", "int", "max", "min", "pow", "round"})


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    examples=[
        becomes(
            """
            import numpy as np

            def scale(x: torch.Tensor):
                return np.sqrt(2) * x
            """,
            """
            def scale(x: Tensor):
                return float(np.sqrt(2)) * x
            """,
        ),
        becomes(
            """
            import numpy as np

            def decay(x: torch.Tensor):
                return -np.log(2) * x
            """,
            """
            def decay(x: Tensor):
                return float(-np.log(2)) * x
            """,
        ),
    ],
)
class NumpyOperands(NodePass):
    """Makes Python numbers of numpy's, and tensors of its arrays, before a tensor meets them."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._numpy_indices: set[ast.AST] | None = None  # between the brackets of a tensor
        self._numpy_bounds: set[Spine] | None = None  # of slices
        self._numpy_left: dict[Spine, bool] | None = None  # found when first asked for

    def propose_BinaryOperation(
        self, original: cst.BinaryOperation, updated: cst.BinaryOperation
    ) -> cst.BaseExpression | None:
        if self._numpy_left is None:
            scope = self.context.resolution.scope
            self._numpy_left = find_numpy_operands(scope.tree, self.context) if scope else {}
        depth, leaf = 0, original.left
        while isinstance(leaf, (cst.BinaryOperation, cst.UnaryOperation)):
            depth += 1
            leaf = leaf.left if isinstance(leaf, cst.BinaryOperation) else leaf.expression
        is_number = self._numpy_left.get((self.partner(leaf), depth))
        if is_number is None:
            return None
        name = "float" if is_number else self.spelling.name("helpers.from_numpy_operand")
        bare = updated.left.with_changes(lpar=[], rpar=[])
        return updated.with_changes(left=cst.Call(func=expression(name), args=[cst.Arg(bare)]))

    def leave_Slice(self, original: cst.Slice, updated: cst.Slice) -> cst.Slice:
        """`x[:, top:bottom]` with bounds that numpy computed: MindSpore takes Python's integers."""
        if self._numpy_bounds is None:
            scope = self.context.resolution.scope
            self._numpy_bounds = find_numpy_bounds(scope.tree, self.context) if scope else set()
        changed: dict[str, cst.BaseExpression] = {}
        for side in ("lower", "upper") if self._numpy_bounds else ():
            old, new = getattr(original, side), getattr(updated, side)
            if old is None or (isinstance(new, cst.Call) and code(new.func) == "int"):
                continue
            depth, leaf = 0, old
            while isinstance(leaf, (cst.BinaryOperation, cst.UnaryOperation, cst.Subscript)):
                depth += 1
                if isinstance(leaf, cst.BinaryOperation):
                    leaf = leaf.left
                else:
                    leaf = leaf.value if isinstance(leaf, cst.Subscript) else leaf.expression
            if (self.partner(leaf), depth) in self._numpy_bounds:
                bare = new.with_changes(lpar=[], rpar=[])
                changed[side] = cst.Call(func=cst.Name("int"), args=[cst.Arg(bare)])
                self.context.edited_lines.add(getattr(self.partner(leaf), "lineno", 0))
        return updated.with_changes(**changed) if changed else updated

    def leave_Index(self, original: cst.Index, updated: cst.Index) -> cst.Index:
        """`x[rows, columns]` with numpy's arrays, `x[range(n), y]`: MindSpore takes tensors and
        Python's integers.
        """
        if self._numpy_indices is None:
            scope = self.context.resolution.scope
            self._numpy_indices = find_numpy_indices(scope.tree, self.context) if scope else set()
        leaf = original.value
        while isinstance(leaf, cst.Subscript):
            leaf = leaf.value
        if self.partner(leaf) not in self._numpy_indices:
            return updated
        if isinstance(updated.value, cst.Call) and code(updated.value.func) == "range":
            arange = expression(self.spelling.name("mindspore.ops.arange"))
            return updated.with_changes(value=updated.value.with_changes(func=arange))
        kind = "range" if is_range(self.context.type(self.partner(leaf))) else "numpy"
        name = self.spelling.name(f"helpers.{kind}_index")
        bare = updated.value.with_changes(lpar=[], rpar=[])
        return updated.with_changes(value=cst.Call(func=expression(name), args=[cst.Arg(bare)]))


def find_numpy_indices(tree: ast.Module, context: Context) -> set[ast.AST]:
    """What numpy or range made, between the brackets of a tensor: the name that it begins with."""
    found: set[ast.AST] = set()
    for node in nodes_of(tree, ast.Subscript):
        if is_tensor(context.type(node.value)):
            index = node.slice
            for part in index.elts if isinstance(index, ast.Tuple) else [index]:
                value = context.type(part)
                if is_numpy_value(value) or is_range(value):
                    while isinstance(part, ast.Subscript):
                        part = part.value
                    found.add(part)
    return found


def find_numpy_bounds(tree: ast.Module, context: Context) -> set[Spine]:
    """Bounds of slices that numpy computed: `box[0]`, `centre - size // 2`."""
    found: set[Spine] = set()
    for node in nodes_of(tree, ast.Slice):
        for bound in (node.lower, node.upper):
            if bound is None or not is_numpy_value(context.type(bound)):
                continue
            depth, leaf = 0, bound
            while isinstance(leaf, (ast.BinOp, ast.UnaryOp, ast.Subscript)):
                depth += 1
                if isinstance(leaf, ast.BinOp):
                    leaf = leaf.left
                else:
                    leaf = leaf.value if isinstance(leaf, ast.Subscript) else leaf.operand
            found.add((leaf, depth))
    return found


def find_numpy_operands(tree: ast.Module, context: Context) -> dict[Spine, bool]:
    """Left operands that numpy made, beside a tensor; True where it is surely one number."""
    found: dict[Spine, bool] = {}
    for node in nodes_of(tree, ast.BinOp):
        if is_tensor(context.type(node.right)) and is_numpy_value(context.type(node.left)):
            depth, leaf = 0, node.left
            while isinstance(leaf, (ast.BinOp, ast.UnaryOp)):
                depth += 1
                leaf = leaf.left if isinstance(leaf, ast.BinOp) else leaf.operand
            found[leaf, depth] = is_number(node.left, context)
    return found


def may_meet_numpy(context: Context) -> bool:
    """`(1 - self.decay(step)) * p`, in a program that has numpy: nothing says that the left
    operand is no number of numpy's, or it begins with a constant, which no pass can wrap.
    """
    return any_mentions(context.modules.project, "numpy") and any(
        is_tensor(context.type(node.right)) and _may_be_numpy(node.left, context)
        for node in nodes_of(context.tree, ast.BinOp)
    )


def _may_be_numpy(node: ast.expr, context: Context) -> bool:
    value = context.type(node)
    if value is UNKNOWN or not is_numpy_value(value):
        return value is UNKNOWN
    while isinstance(node, (ast.BinOp, ast.UnaryOp)):
        node = node.left if isinstance(node, ast.BinOp) else node.operand
    return isinstance(node, ast.Constant)


def is_range(value: object) -> bool:
    return isinstance(value, ListOf) and value.kind == "iterator"


def is_numpy_value(value: object) -> bool:
    return any(
        isinstance(option, Instance) and is_numpy(option.cls)
        for option in options_of(value)  # type: ignore[arg-type]
    )


def is_number(node: ast.expr, context: Context) -> bool:
    """A function of numbers gives a number."""
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand, context)
    if isinstance(node, ast.BinOp):
        return is_number(node.left, context) and is_number(node.right, context)
    if isinstance(node, ast.Call) and (
        is_numpy_value(context.type(node)) or getattr(node.func, "id", "") in _OF_NUMBERS
    ):
        return bool(node.args) and all(is_number(argument, context) for argument in node.args)
    return all(
        (isinstance(option, Instance) and option.cls in _NUMBERS)
        or (isinstance(option, Known) and isinstance(option.value, (int, float)))
        for option in options_of(context.type(node))
    )
