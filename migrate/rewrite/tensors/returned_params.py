"""Parameters that a function changes and gives back: `x.add_(y)`, then `return x`."""

from __future__ import annotations

import ast

from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes


def is_returned(name: str, function: ast.AST | None) -> bool:
    """Whether the function returns what it has made of this parameter, on all ways out."""
    if not isinstance(function, ast.FunctionDef):
        return False
    if name not in [argument.arg for argument in function.args.args]:
        return False
    returns = [node for node in all_nodes(function) if isinstance(node, ast.Return)]
    return isinstance(function.body[-1], ast.Return) and all(
        name_of(node.value) == name for node in returns
    )
