"""Does a function run only while an object is built?

A constructor does; so does a private method of the class that nothing but constructors, and other
such methods, mention: `self._init_weights()`, `self.apply(self._init_weights)` in `__init__`.
"""

from __future__ import annotations

import ast

from migrate.syntax.ast_index import nodes_of, parents_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def builds(function: ast.AST | None, tree: ast.Module, seen: tuple[str, ...] = ()) -> bool:
    """False where a caller is out of view: a public method, a function of the module."""
    if not isinstance(function, _FUNCTIONS):
        return False
    if function.name == "__init__":
        return True
    private = function.name.startswith("_") and not function.name.endswith("__")
    parents = parents_of(tree)
    if not private or not isinstance(parents.get(function), ast.ClassDef) or function.name in seen:
        return False
    mentions = [node for node in nodes_of(tree, ast.Attribute) if node.attr == function.name]
    around = [_function_around(node, parents) for node in mentions]
    return bool(around) and all(
        one is function or builds(one, tree, (*seen, function.name)) for one in around
    )


def _function_around(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> ast.AST | None:
    while node in parents:
        node = parents[node]
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            return node
    return None
