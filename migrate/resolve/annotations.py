"""What annotations say: `Tensor`, `list[Tensor] | None`, `"torch.Tensor"`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.resolve.types import as_instance, subscripted
from migrate.resolve.values import NONE, UNKNOWN, Known, Value, join

if TYPE_CHECKING:
    from migrate.resolve.expressions import Expressions


def annotated(node: ast.expr, interpreter: Expressions) -> Value:
    """What a variable with this annotation holds."""
    if isinstance(node, ast.Constant):
        return _constant(node, interpreter)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return as_instance(interpreter.reference(node, "annotation"))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return join(interpreter.annotation(node.left), interpreter.annotation(node.right))
    if isinstance(node, ast.Subscript):
        generic = (
            interpreter.reference(node.value, "annotation")
            if isinstance(node.value, (ast.Name, ast.Attribute))
            else interpreter.evaluate(node.value)
        )
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return subscripted(generic, [interpreter.annotation(part) for part in inner])
    if isinstance(node, (ast.List, ast.Tuple)):
        for part in node.elts:
            interpreter.annotation(part)
        return UNKNOWN
    return interpreter.evaluate(node)


def _constant(node: ast.Constant, interpreter: Expressions) -> Value:
    if node.value is None:
        return NONE
    if node.value is ...:
        return Known(...)
    return interpreter.string_annotation(node) if isinstance(node.value, str) else UNKNOWN


def quoted_expression(node: ast.Constant) -> ast.expr | None:
    """The tree of the text, each part placed at the string; None where it is no expression."""
    try:
        written: ast.expr = ast.parse(str(node.value), mode="eval").body
    except SyntaxError:
        return None
    for part in ast.walk(written):
        if isinstance(part, ast.expr):
            part.lineno, part.col_offset = node.lineno, node.col_offset
            part.end_lineno, part.end_col_offset = node.end_lineno, node.end_col_offset
    return written
