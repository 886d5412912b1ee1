"""The methods of a file's classes that are no networks: a value of unknown type may be of one."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def own_methods(tree: ast.Module) -> frozenset[str]:
    return frozenset(
        part.name
        for cls in _classes(tree)
        if not any("Module" in ast.unparse(base) for base in cls.bases)
        for part in cls.body
        if isinstance(part, ast.FunctionDef)
    )


def _classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    """Wherever they are defined; expressions are not walked."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ClassDef):
            yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            found = getattr(node, block, None)
            if found.__class__ is list:  # of a lambda or a conditional expression, one expression
                pending += found
