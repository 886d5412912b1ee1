"""A name that holds a Parameter for one caller and a computed tensor for another.

`ops.assign` to a computed tensor would lose the gradient of what is assigned.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.resolve.values import PARAMETER, options_of
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes


def may_be_plain(place: ast.expr, function: ast.AST | None, context: Context) -> bool:
    """Its type says so, or it comes out of a function of the program, which others call too."""
    if not isinstance(place, ast.Name):
        return False
    if any(option is not PARAMETER for option in options_of(context.type(place))):
        return True
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and context.usage(node.value.func) is None
        and any(name_of(target) == place.id for target in node.targets)
        for node in (all_nodes(function) if function is not None else ())
    )
