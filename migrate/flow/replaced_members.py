"""May a member get another value after it was used: an optimizer that a callback makes anew?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from migrate.flow.mentions import trees_of
from migrate.project import Project, SourceFile
from migrate.syntax.ast_index import all_nodes, nodes_of, parents_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def may_be_replaced(name: str, project: Project) -> bool:
    """`self.optimizer`: a function beside a constructor gives it a value, and another one does so
    too, or the one is called from more than one place.
    """
    member = name.rpartition(".")[2]
    return member != name and _may_be_replaced(member, tuple(project.files))


@lru_cache(maxsize=32)
def _may_be_replaced(member: str, files: tuple[SourceFile, ...]) -> bool:
    makers = {
        _function_around(node, tree)
        for tree in trees_of(files, member)
        for node in _assignments(tree, member)
    }
    later = [one for one in makers if getattr(one, "name", "") != "__init__"]
    if not later or len(makers) > 1:
        return bool(later)
    (maker,) = later
    if not isinstance(maker, _FUNCTIONS):
        return True
    mentions = (
        node
        for tree in trees_of(files, maker.name)
        for node in all_nodes(tree)
        if maker.name in (getattr(node, "attr", ""), getattr(node, "id", ""))
    )
    return len(list(mentions)) > 1


def _assignments(tree: ast.Module, member: str) -> Iterator[ast.Assign]:
    """Those of values; `self.optimizer = None` says that there is none yet."""
    for node in nodes_of(tree, ast.Assign):
        empty = isinstance(node.value, ast.Constant) and node.value.value is None
        targets = [part for target in node.targets for part in _parts(target)]
        if not empty and any(getattr(target, "attr", "") == member for target in targets):
            yield node


def _parts(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [part for element in target.elts for part in _parts(element)]
    return [target]


def _function_around(node: ast.AST, tree: ast.Module) -> ast.AST:
    parents = parents_of(tree)
    while node in parents and not isinstance(node, _FUNCTIONS):
        node = parents[node]
    return node
