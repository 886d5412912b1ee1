"""An index of all nodes of a file's tree, walked once: many passes look through the whole file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from functools import cache
from typing import Any, TypeVar

_NODES = "_all_nodes"
_CHOSEN = "_chosen_nodes"
_PARENTS = "_parents"
_STATEMENTS = "_statements"
_REMEMBERED = "_remembered"
_INDEXED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_NO_NODES = frozenset(
    """
    arg asname attr conversion ctx id is_async kind kwd_attrs level module name op ops rest simple
    str tag type_comment
    """.split()  # noqa: SIM905 - a list would take a line for each name
)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_BRANCHES = (ast.ExceptHandler, ast.match_case)
# Lists in which None stands for what is left out: `{**more}`, `def f(*, a)`.
_WITH_HOLES = frozenset({ast.Dict, ast.arguments})


Tree = TypeVar("Tree", bound=ast.AST)
Result = TypeVar("Result")


class FieldsOfKinds(dict[type[ast.AST], tuple[str, ...]]):
    """For each kind of node the fields that hold nodes, found when first asked for."""

    def __init__(self, skipped: Collection[str] = ()) -> None:
        super().__init__()
        self._skipped = _NO_NODES.union(skipped)
        for kind in (ast.Constant, ast.Global, ast.Nonlocal, ast.MatchSingleton, ast.TypeIgnore):
            self[kind] = ()
        if hasattr(ast, "TypeAlias"):  # of Python 3.12: its name is a node
            self[ast.TypeAlias] = ast.TypeAlias._fields

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        found = tuple(name for name in kind._fields if name not in self._skipped)
        self[kind] = found
        return found


_FIELDS = FieldsOfKinds()


def nodes_below(starts: list[Any], fields: FieldsOfKinds = _FIELDS) -> list[Any]:
    """The nodes and all below them, those near the top first, without contexts and operators."""
    found = list(starts)
    for node in found:  # grows while it is read
        kind = node.__class__
        for name in fields[kind]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                found += value if kind not in _WITH_HOLES else filter(None, value)
            elif value is not None:
                found.append(value)
    return found


def all_nodes(tree: ast.AST) -> list[Any]:
    """What ast.walk gives, in its order, without contexts and operators.

    The tree must not change any more.
    """
    found: list[Any] | None = getattr(tree, _NODES, None)
    if found is None:
        found = nodes_below([tree])
        if isinstance(tree, _INDEXED):
            setattr(tree, _NODES, found)
    return found


def nodes_of(tree: ast.Module | ast.ClassDef, *kinds: type[ast.AST]) -> list[Any]:
    """Those of certain kinds, in the same order: looked up, not searched for."""
    chosen: dict[tuple[type[ast.AST], ...], list[Any]] | None = getattr(tree, _CHOSEN, None)
    if chosen is None:
        chosen = {}
        for node in all_nodes(tree):
            kind = (node.__class__,)
            if kind in chosen:
                chosen[kind].append(node)
            else:
                chosen[kind] = [node]
        setattr(tree, _CHOSEN, chosen)
    found = chosen.get(kinds)
    if found is None:
        there = [kind for kind in kinds if (kind,) in chosen]
        if len(there) > 1:
            found = [node for node in all_nodes(tree) if node.__class__ in there]
        else:
            found = chosen[(there[0],)] if there else []
        chosen[kinds] = found
    return found


def parents_of(
    tree: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef,
) -> dict[ast.AST, ast.AST]:
    """The node that each node of the file, or of the function, is a child of."""
    found: dict[ast.AST, ast.AST] | None = getattr(tree, _PARENTS, None)
    if found is None:
        found = {child: node for node in all_nodes(tree) for child in child_nodes(node)}
        setattr(tree, _PARENTS, found)
    return found


def child_nodes(node: Any) -> list[Any]:
    """What ast.iter_child_nodes gives, without contexts and operators."""
    found: list[Any] = []
    kind = node.__class__
    for name in _FIELDS[kind]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += value if kind not in _WITH_HOLES else filter(None, value)
        elif value is not None:
            found.append(value)
    return found


def statements_of(tree: ast.Module) -> list[ast.stmt]:
    """The statements at any depth; expressions, where most nodes are, are not entered."""
    found: list[ast.stmt] | None = getattr(tree, _STATEMENTS, None)
    if found is None:
        blocks: list[Any] = [tree]
        for node in blocks:  # grows while it is read
            for name in _blocks(node.__class__):
                blocks += getattr(node, name)
        found = [node for node in blocks[1:] if not isinstance(node, _BRANCHES)]
        setattr(tree, _STATEMENTS, found)
    return found


def remembered(tree: Tree, make: Callable[[Tree], Result]) -> Result:
    """What `make` finds out about a tree, found out once."""
    known: dict[Callable[[Tree], Result], Result] = tree.__dict__.setdefault(_REMEMBERED, {})
    if make not in known:
        known[make] = make(tree)
    return known[make]


def forget_index(node: ast.AST) -> None:
    """The tree below changes: what was indexed of it does not hold any more."""
    for name in (_NODES, _CHOSEN, _PARENTS, _STATEMENTS, _REMEMBERED):
        if hasattr(node, name):
            delattr(node, name)


@cache
def _blocks(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name in _BLOCKS)
