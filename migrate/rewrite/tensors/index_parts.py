"""What stands between the brackets of `x[0, :, rows]`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache

import libcst as cst

from migrate.pipeline.context import Context
from migrate.resolve.values import Instance, Known, ListOf, TupleOf, Value, is_tensor, options_of
from migrate.rewrite.tensors.numpy_operands import is_numpy_value
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.text import code

SLICE, NEW, REST, INTEGER, ARRAY, UNKNOWN = "slice", "None", "...", "integer", "array", "unknown"


def index_of(
    node: cst.Subscript, tree: ast.Module, partner: Callable[[cst.CSTNode], ast.AST | None]
) -> ast.Tuple | None:
    """The several indices of a subscript, which has no partner itself."""
    depth, leaf = 0, node.value
    while isinstance(leaf, cst.Subscript):
        depth, leaf = depth + 1, leaf.value
    return index_tuples(tree).get((partner(leaf), depth))


@lru_cache(maxsize=4)
def index_tuples(tree: ast.Module) -> dict[tuple[ast.AST | None, int], ast.Tuple]:
    """Subscripts with several indices: by the leaf that is subscripted, and how often it is."""
    found: dict[tuple[ast.AST | None, int], ast.Tuple] = {}
    for node in nodes_of(tree, ast.Subscript):
        if isinstance(node.slice, ast.Tuple):
            depth, leaf = 0, node.value
            while isinstance(leaf, ast.Subscript):
                depth, leaf = depth + 1, leaf.value
            found[leaf, depth] = node.slice
    return found


def as_tuple(texts: list[str]) -> str:
    """The indices of a subscript as the text of a tuple, slices as calls."""
    spelled = ["'...'" if text == "..." else _as_slice(text) for text in texts]
    return f"({', '.join(spelled)}{',' if len(spelled) == 1 else ''})"


def _as_slice(text: str) -> str:
    """`a:b` as a call; what is no slice stays."""
    parsed = cst.ensure_type(cst.parse_expression(f"_[{text}]"), cst.Subscript).slice[0].slice
    if not isinstance(parsed, cst.Slice):
        return text
    bounds = [parsed.lower, parsed.upper, parsed.step]
    if bounds == [None, None, None]:
        return "slice(None)"
    shown = [code(bound) if bound is not None else "None" for bound in bounds]
    return f"slice({', '.join(shown if parsed.step is not None else shown[:2])})"


def index_kinds(index: ast.expr, context: Context) -> list[str]:
    """What stands at each place of an index."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return [_kind(part, context) for part in parts]


def _kind(part: ast.expr, context: Context) -> str:
    if isinstance(part, ast.Slice):
        return SLICE
    if isinstance(part, ast.Constant):
        if part.value is None or part.value is ...:
            return NEW if part.value is None else REST
        return INTEGER if type(part.value) is int else ARRAY
    if isinstance(part, (ast.List, ast.ListComp, ast.Compare)):
        return ARRAY
    if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
        return _kind(part.operand, context)
    value = context.type(part)
    if is_tensor(value) or isinstance(value, (ListOf, TupleOf)):
        return ARRAY
    if is_numpy_value(value):
        return UNKNOWN
    return INTEGER if _is_integer(value) else UNKNOWN


def _is_integer(value: Value) -> bool:
    return all(
        (isinstance(option, Instance) and option.cls == "builtins.int")
        or (isinstance(option, Known) and type(option.value) is int)
        for option in options_of(value)
    )


def operand(text: str) -> str:
    """With parentheses, unless it is a name or a number."""
    return text if text.replace(".", "").isalnum() else f"({text})"
