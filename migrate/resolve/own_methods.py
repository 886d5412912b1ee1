"""The methods of a file's classes that are no networks: a value of unknown type may be of one."""

from __future__ import annotations

import ast

from migrate.syntax.ast_index import statements_of


def own_methods(tree: ast.Module) -> frozenset[str]:
    return frozenset(
        part.name
        for cls in statements_of(tree)
        if isinstance(cls, ast.ClassDef)
        and not any("Module" in ast.unparse(base) for base in cls.bases)
        for part in cls.body
        if isinstance(part, ast.FunctionDef)
    )
