"""`try: from torch import X`, `except ImportError:` with a substitute: which of the two stays?

The import goes, and with it the name. Where others still need the name (a file that imports it
from here, a use that may be either of the two), the program's own substitute takes its place;
elsewhere the import counts as done.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

import libcst as cst

from migrate.rewrite.names.guarded_imports import catches_absence
from migrate.rewrite.statements.suites import GONE, flat, is_emptied
from migrate.syntax.access import stored_names
from migrate.syntax.ast_index import all_nodes


def settled_try(
    original: cst.Try, node: cst.Try, partner: ast.AST | None, needed: Callable[[str], bool]
) -> cst.Try | cst.FlattenSentinel[cst.BaseStatement]:
    """The try statement, or what is left of it when all that it tried was to import torch's."""
    if (
        not isinstance(partner, ast.Try)
        or node.finalbody is not None
        or not is_emptied(original.body, node.body)
        or not all(isinstance(s, (ast.Import, ast.ImportFrom)) for s in partner.body)
        or not all(catches_absence(handler) for handler in partner.handlers)
    ):
        return node
    names = {name for statement in partner.body for name in _bound_by(statement)}
    wanted = {name for name in names if needed(name)}
    for handler, new in zip(partner.handlers, node.handlers, strict=True):
        if wanted & {name for statement in handler.body for name in _bound_by(statement)}:
            return flat(new.body, node.leading_lines)
    if node.orelse is not None:
        return flat(node.orelse.body, [*node.leading_lines, *node.orelse.leading_lines])
    lines = [*node.leading_lines, *getattr(node.body.body[0], "leading_lines", ())]
    return cst.FlattenSentinel([cst.SimpleStatementLine([GONE], leading_lines=lines)])


def _bound_by(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    return stored_names(all_nodes(statement))
