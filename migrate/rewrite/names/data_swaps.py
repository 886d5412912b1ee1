"""`backup[name] = p.data`, and then `p.data = other`: torch puts another tensor in the parameter's
place, MindSpore writes over it. What was kept must be a copy.
"""

from __future__ import annotations

import ast

from migrate.flow.blocks import statements_below
from migrate.syntax.access import attribute_of
from migrate.syntax.ast_index import nodes_of


def replaced_later(tree: ast.Module) -> set[ast.AST]:
    """Every `p.data` that a statement keeps in a function which gives `p.data` another value."""
    found: set[ast.AST] = set()
    for function in nodes_of(tree, ast.FunctionDef, ast.AsyncFunctionDef, ast.Module):
        below = [statement for _, statement in statements_below(function.body)]
        statements = [node for node in below if isinstance(node, ast.Assign)]
        replaced = {
            ast.unparse(target)
            for statement in statements
            for target in statement.targets
            if attribute_of(target) == "data"
        }
        found |= {
            statement.value
            for statement in statements
            if attribute_of(statement.value) == "data" and ast.unparse(statement.value) in replaced
        }
    return found
