"""`getattr(nn, kind)` where a test around it, or the strings of the program, say what the name can
be: a dictionary of those.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from migrate.flow import FunctionFlow
from migrate.pipeline.context import Context
from migrate.project import ReadProblem, SourceFile, shared_tree
from migrate.resolve import Usage
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes, nodes_of, parents_of

_CALLED = ("function", "class")
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class GetattrTable:
    """One look-up: the namespace's usage, and the names that its test allows."""

    owner: Usage
    names: tuple[str, ...]


def find_getattr_tables(tree: ast.Module, context: Context) -> dict[ast.AST, GetattrTable]:
    """By the call of getattr."""
    found: dict[ast.AST, GetattrTable] = {}
    calls = [node for node in nodes_of(tree, ast.Call) if _is_getattr(node)]
    for call in calls:
        owner = context.usage(call.args[0])
        if owner is None or owner.api not in ("torch.nn", "torch.nn.functional", "torch"):
            continue
        names = _allowed(call, context) or _spelled(owner.api, context)
        rows = [context.table.get(f"{owner.api}.{name}") for name in names]
        if names and all(row is not None and row.main.portable for row in rows):
            found[call] = GetattrTable(owner, names)
    return found


def _spelled(owner: str, context: Context) -> tuple[str, ...]:
    """The members that stand as strings in the file: `Net("relu")`, `choices=["GRU", "LSTM"]`, or
    for layers in the program: a registry's file is not the one with the names.

    Another name raises a KeyError where it is looked up.
    """
    names = _members(texts_in(context.tree), owner, context)
    if owner != "torch.nn" and names:
        return names
    if owner == "torch":
        return ()
    return _members(texts_of(tuple(context.modules.project.files)), owner, context)


def _members(texts: frozenset[str], owner: str, context: Context) -> tuple[str, ...]:
    rows = {text: context.table.get(f"{owner}.{text}") for text in texts}
    return tuple(
        sorted(
            name
            for name, row in rows.items()
            if row is not None and row.main.portable and row.kind in _CALLED
        )
    )


def texts_in(tree: ast.Module) -> frozenset[str]:
    """The strings of a file that could be names and are not only compared with."""
    compared = {part for node in nodes_of(tree, ast.Compare) for part in all_nodes(node)}
    return frozenset(
        node.value
        for node in nodes_of(tree, ast.Constant)
        if isinstance(node.value, str) and node.value.isidentifier() and node not in compared
    )


@lru_cache(maxsize=4)
def texts_of(files: tuple[SourceFile, ...]) -> frozenset[str]:
    """Those of all files that can be read."""
    found = set[str]()
    for file in files:
        try:
            found |= texts_in(shared_tree(file))
        except ReadProblem:
            continue
    return frozenset(found)


def _is_getattr(node: ast.Call) -> bool:
    return (
        name_of(node.func) == "getattr"
        and len(node.args) in (2, 3)
        and isinstance(node.args[1], (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    )


def _allowed(call: ast.Call, context: Context) -> tuple[str, ...]:
    """From `if kind in ["LSTM", "GRU"]:` around the call, or an assertion that every way to the
    call goes through; the name must not be bound anew in between.
    """
    key = call.args[1]
    around = context.flow.around(call)
    if around is None:
        return ()
    text = ast.unparse(key)
    for test in (*_tests_around(call, context.tree), *_assertions(call, around)):
        names = _names(test, text)
        if names and _is_same_value(key, test, around):
            return names
    return ()


def _tests_around(call: ast.Call, tree: ast.Module) -> Iterator[ast.expr]:
    """The tests that hold where the call stands, the innermost first, in its own function."""
    parents = parents_of(tree)
    node: ast.AST = call
    while (parent := parents.get(node)) is not None and not isinstance(parent, _FUNCTIONS):
        if (isinstance(parent, ast.If) and node in parent.body) or (
            isinstance(parent, ast.IfExp) and node is parent.body
        ):
            yield parent.test
        node = parent


def _assertions(call: ast.Call, around: FunctionFlow) -> Iterator[ast.expr]:
    statement = around.cfg.statement_of(call)
    if statement is None:
        return
    for node in all_nodes(around.node):
        if isinstance(node, ast.Assert) and around.cfg.dominates(node, statement):
            yield node.test


def _is_same_value(key: ast.expr, test: ast.expr, around: FunctionFlow) -> bool:
    """The test and the call read the same definitions of a name."""
    if not isinstance(key, ast.Name):
        return True
    read = set(around.defuse.reaching(key))
    return all(
        set(around.defuse.reaching(name)) == read
        for name in all_nodes(test)
        if name_of(name) == key.id
    )


def _names(test: ast.expr, key: str) -> tuple[str, ...]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return next(filter(None, (_names(part, key) for part in test.values)), ())
    if isinstance(test, ast.BoolOp):
        parts = [_names(part, key) for part in test.values]
        return tuple(name for part in parts for name in part) if all(parts) else ()
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or ast.unparse(test.left) != key:
        return ()
    return _compared_with(test)


def _compared_with(test: ast.Compare) -> tuple[str, ...]:
    """The texts of `key == "a"`, `key in ("a", "b")`"""
    right = test.comparators[0]
    if isinstance(test.ops[0], ast.Eq):
        values = [right]
    elif isinstance(test.ops[0], ast.In) and isinstance(right, (ast.List, ast.Tuple, ast.Set)):
        values = right.elts
    else:
        return ()
    texts = [v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str)]
    return tuple(texts) if len(texts) == len(values) else ()
