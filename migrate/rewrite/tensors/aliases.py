"""Could anyone else see a tensor that is changed in place?"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.syntax.access import is_read, name_of
from migrate.syntax.ast_index import all_nodes

_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try)


def seen_by(place: ast.expr, context: Context) -> str:
    """Who else in the function could see the change, in words; "" when nobody can."""
    flow = context.flow.around(place)
    observers = flow.aliases.observers(place) if flow is not None else []
    return next((str(o) for o in observers if o.kind != "caller"), "")


def is_read_beside(place: ast.expr, context: Context) -> bool:
    """`return relu_(x), x`: the name stands again behind the place, in the same statement."""
    flow = context.flow.around(place)
    statement = flow.cfg.statement_of(place) if flow is not None else None
    if statement is None or not isinstance(place, ast.Name) or isinstance(statement, _BLOCKS):
        return False
    here = (place.lineno, place.col_offset)
    return any(
        name_of(node) == place.id and (node.lineno, node.col_offset) > here and is_read(node)
        for node in all_nodes(statement)
    )


def is_read_later(place: ast.expr, context: Context) -> bool:
    """The tensor itself is read again: in the rest of its statement, or behind it."""
    root = place
    while isinstance(root, ast.Subscript):
        root = root.value
    flow = context.flow.around(place)
    statement = flow.cfg.statement_of(place) if flow is not None else None
    if flow is None or statement is None or not isinstance(root, ast.Name):
        return False
    return flow.defuse.read_after(statement, root.id)
