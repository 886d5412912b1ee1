"""An index of all nodes of a file's tree, walked once: many passes look through the whole file."""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

_NODES = "_all_nodes"
_CHOSEN = "_chosen_nodes"
_PARENTS = "_parents"
_INDEXED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_NO_NODES = frozenset({"ctx", "op", "ops", "id", "attr", "kind", "type_comment", "level", "module"})


def all_nodes(tree: ast.AST) -> list[Any]:
    """What ast.walk gives, in its order, without contexts and operators.

    The tree must not change any more.
    """
    found: list[Any] | None = getattr(tree, _NODES, None)
    if found is None:
        found = [tree]
        for node in found:  # grows while it is read
            for name in _fields(node.__class__):
                value = getattr(node, name, None)
                if value.__class__ is list:
                    found += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    found.append(value)
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


def parents_of(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    """The node that each node of the file is a child of."""
    found: dict[ast.AST, ast.AST] | None = getattr(tree, _PARENTS, None)
    if found is None:
        found = {child: node for node in all_nodes(tree) for child in child_nodes(node)}
        setattr(tree, _PARENTS, found)
    return found


def child_nodes(node: Any) -> list[Any]:
    """What ast.iter_child_nodes gives, without contexts and operators."""
    found: list[Any] = []
    for name in _fields(node.__class__):
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def forget_index(node: ast.AST) -> None:
    """The tree below changes: what was indexed of it does not hold any more."""
    for name in (_NODES, _CHOSEN, _PARENTS):
        if hasattr(node, name):
            delattr(node, name)


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    if kind is ast.Constant:
        return ()
    return tuple(name for name in kind._fields if name not in _NO_NODES)
