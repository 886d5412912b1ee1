"""Does a function run only while an object is built?

A constructor does; so does a private method that nothing in the program but constructors, and other
such methods, mention: `self._init_weights()`, `self.apply(self._init_weights)` in `__init__`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrate.flow.mentions import trees_with
from migrate.project import Project
from migrate.syntax.ast_index import nodes_of, parents_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def builds(function: ast.AST | None, tree: ast.Module, others: Iterable[ast.Module] = ()) -> bool:
    """False where a caller is out of view: a public method, a function of the module. `others` are
    the program's files that name the function, too.
    """
    return (
        isinstance(function, _FUNCTIONS)
        and _builds(function, tree, ())
        and all(_only_built(function.name, other, ()) for other in others)
    )


def builds_in_program(function: ast.AST | None, tree: ast.Module, project: Project) -> bool:
    """The same, whatever file mentions the method."""
    name = getattr(function, "name", "")
    others = trees_with(project, name) if name != "__init__" else ()
    return builds(function, tree, others)


def _builds(function: ast.AST | None, tree: ast.Module, seen: tuple[str, ...]) -> bool:
    if not isinstance(function, _FUNCTIONS):
        return False
    if function.name == "__init__":
        return True
    private = function.name.startswith("_") and not function.name.endswith("__")
    owner = parents_of(tree).get(function)
    if not private or not isinstance(owner, ast.ClassDef) or function.name in seen:
        return False
    mentioned = any(node.attr == function.name for node in nodes_of(tree, ast.Attribute))
    return mentioned and _only_built(function.name, tree, (*seen, function.name))


def _only_built(name: str, tree: ast.Module, seen: tuple[str, ...]) -> bool:
    """Only constructors, such methods, and the function itself mention the name in a file."""
    parents = parents_of(tree)
    around = [
        _function_around(node, parents)
        for node in nodes_of(tree, ast.Attribute)
        if node.attr == name
    ]
    return all(getattr(one, "name", "") == name or _builds(one, tree, seen) for one in around)


def _function_around(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> ast.AST | None:
    while node in parents:
        node = parents[node]
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            return node
    return None
