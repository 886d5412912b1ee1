"""An index of all nodes of a file's tree, walked once: many passes look through the whole file."""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

_KEPT = "_every_node"
_CHOSEN = "_chosen_nodes"
_PARENTS = "_parents"
_WORTH_KEEPING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_NO_NODES = frozenset({"ctx", "op", "ops", "id", "attr", "kind", "type_comment", "level", "module"})


def all_nodes(tree: ast.AST) -> list[Any]:
    """What ast.walk gives, in its order, without contexts and operators.

    The tree must not change any more.
    """
    kept: list[Any] | None = getattr(tree, _KEPT, None)
    if kept is None:
        kept = [tree]
        for node in kept:  # grows while it is read
            for name in _fields(node.__class__):
                value = getattr(node, name, None)
                if value.__class__ is list:
                    kept += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    kept.append(value)
        if isinstance(tree, _WORTH_KEEPING):
            setattr(tree, _KEPT, kept)
    return kept


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
        found = {child: node for node in all_nodes(tree) for child in ast.iter_child_nodes(node)}
        setattr(tree, _PARENTS, found)
    return found


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    if kind is ast.Constant:
        return ()
    return tuple(name for name in kind._fields if name not in _NO_NODES)
