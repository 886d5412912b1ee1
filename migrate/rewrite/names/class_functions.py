"""`conv = torch.conv2d` in a class: torch's functions are built in and never become methods.

MindSpore's and ours are written in Python, and would be given `self`.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.syntax.ast_index import nodes_of


def find_class_functions(tree: ast.Module, context: Context) -> set[ast.AST]:
    """The values of such assignments."""
    found: set[ast.AST] = set()
    for cls in nodes_of(tree, ast.ClassDef):
        for statement in cls.body:
            value = getattr(statement, "value", None)
            if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or value is None:
                continue
            usage = context.usage(value)
            entry = context.table.get(usage.api) if usage is not None else None
            if entry is not None and entry.kind == "function":
                found.add(value)
    return found
