"""`try: from torchvision.ops import X; HAS_X = True`, `except ImportError: HAS_X = False`.

Where MindSpore has nothing for X the import stays in its guard, and X keeps its name: without
torch the program takes the way that its author meant for such machines. What is carried over
counts as there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate.syntax.access import name_of
from migrate.syntax.ast_index import nodes_of
from migrate.table import Table

_ABSENCE = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException")


def catches_absence(handler: ast.ExceptHandler) -> bool:
    """Whether a handler is for what cannot be imported."""
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(name_of(kind) in _ABSENCE for kind in kinds)


def guarded_imports(
    tree: ast.Module, table: Table, is_library: Callable[[str], bool]
) -> dict[str, str]:
    """Dotted names that stay imported in their guard, and the names they are bound to there."""
    found: dict[str, str] = {}
    for guard in nodes_of(tree, ast.Try):
        if not guard.handlers or not all(map(catches_absence, guard.handlers)):
            continue
        for statement in guard.body:
            if isinstance(statement, ast.ImportFrom) and not statement.level:
                module = statement.module or ""
                for alias in statement.names if is_library(module) else ():
                    dotted = f"{module}.{alias.name}"
                    if _has_no_counterpart(dotted, table):
                        found[dotted] = alias.asname or alias.name
    return found


def _has_no_counterpart(dotted: str, table: Table) -> bool:
    entry = table.get(dotted)
    if entry is not None:
        return entry.status == "missing"
    # A module of torch's is carried over name by name.
    return dotted not in table.namespaces and not _holds_rows(dotted, table)


def _holds_rows(dotted: str, table: Table) -> bool:
    return any(name.startswith(f"{dotted}.") for name in table.namespaces)
