"""What the variables of a compiled function hold, by their types and by how they are bound."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.lower.function import CompiledFunction
from migrate.resolve.values import BOOL, INT, Known, ListOf, TupleOf, options_of
from migrate.syntax.access import is_read, is_store, name_of
from migrate.syntax.ast_index import all_nodes

_LISTS = (ast.List, ast.ListComp)
_DICTS = (ast.Dict, ast.DictComp)
_KEEP_WHOLE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


def kind_of(node: ast.expr, function: CompiledFunction) -> str:
    """list, dict or nothing."""
    kinds = {
        option.kind if isinstance(option, ListOf) else "list" if isinstance(option, TupleOf) else ""
        for option in options_of(function.value_of(node))
    }
    if len(kinds) == 1 and kinds <= {"dict"}:
        return "dict"
    if not isinstance(node, ast.Name):
        return ""
    values = list(bound_values(node.id, function))
    if values and all(_makes(value, _DICTS, ("dict", "OrderedDict")) for value in values):
        return "dict"
    if values and all(_makes(value, _LISTS, ("list", "sorted")) for value in values):
        return "list"
    return ""


def _makes(value: ast.expr | None, kinds: tuple[type, ...], calls: tuple[str, ...]) -> bool:
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        return list in kinds or ast.List in kinds
    if isinstance(value, ast.BinOp):
        return _makes(value.left, kinds, calls) or _makes(value.right, kinds, calls)
    called = isinstance(value, ast.Call) and getattr(value.func, "id", "") in calls
    return isinstance(value, kinds) or called


def bound_values(name: str, function: CompiledFunction) -> Iterator[ast.expr | None]:
    """The values that a variable is assigned; None where something else binds it."""
    for node in all_nodes(function.node):
        if isinstance(node, ast.arg) and node.arg == name:
            yield None
        elif name_of(node) == name and is_store(node):
            statement = function.parents.get(node)
            if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
                yield None  # `kept = skips = []`
            elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
                yield statement.value
            elif isinstance(statement, ast.Tuple):
                yield _of_tuple(node, statement, function)
            elif not isinstance(statement, ast.AugAssign):
                yield None


def _of_tuple(name: ast.Name, target: ast.Tuple, function: CompiledFunction) -> ast.expr | None:
    """`rows, columns = [], []`"""
    statement = function.parents.get(target)
    value = statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
        return value.elts[target.elts.index(name)]
    return None


def only_here(name: str, function: CompiledFunction) -> bool:
    """No parameter, not read by an inner function, and no second name for what it holds."""
    values = list(bound_values(name, function))
    if not values or any(value is None for value in values):
        return False
    for node in all_nodes(function.node):
        if name_of(node) == name and is_read(node):
            if function.scope_of(node) is not function.node:
                return False
            parent = function.parents[node]
            if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Tuple, ast.List, ast.Dict)):
                return False
    return True


def is_whole(node: ast.expr, function: CompiledFunction) -> bool:
    """Surely a whole number of Python's."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return is_whole(node.operand, function)
    if isinstance(node, ast.BinOp) and isinstance(node.op, _KEEP_WHOLE):
        return is_whole(node.left, function) and is_whole(node.right, function)
    options = options_of(function.value_of(node))
    return bool(options) and all(
        option in (INT, BOOL) or (isinstance(option, Known) and type(option.value) is int)
        for option in options
    )


def pair_names(function: CompiledFunction) -> tuple[str, str]:
    """For the variables of a comprehension over a dict: names that the function does not read."""
    inside = {
        part
        for node in function.of_kind(ast.DictComp)
        for part in all_nodes(node)
        if isinstance(part, ast.Name)
    }
    taken = {node.id for node in function.of_kind(ast.Name) if node not in inside}
    taken |= {node.arg for node in all_nodes(function.node) if isinstance(node, ast.arg)}
    key, value = (name if name not in taken else f"each_{name}" for name in ("key", "value"))
    return key, value
