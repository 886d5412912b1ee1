"""Every name that a file binds by itself, so that nothing we import takes its place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.resolve import Resolver
from migrate.resolve.modules import Modules
from migrate.syntax.access import stored_names
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.import_planner import HELPERS

_OURS = ("mindspore", "numpy", "math")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)


def bound_names(tree: ast.Module, resolver: Resolver) -> frozenset[str]:
    """Variables, parameters, functions, classes, and imports of anything but libraries."""
    names = set(stored_names(nodes_of(tree, ast.Name)))
    names |= {node.arg for node in nodes_of(tree, ast.arg)}
    names |= {node.name or "" for node in nodes_of(tree, *_DEFINITIONS)}
    return frozenset(names.union(_imported(tree, resolver.modules)))


def _imported(tree: ast.Module, modules: Modules) -> Iterator[str]:
    for node in nodes_of(tree, ast.Import):
        for alias in node.names:
            if not modules.is_library(alias.name) and not alias.name.startswith(_OURS):
                yield alias.asname or alias.name
    for node in nodes_of(tree, ast.ImportFrom):
        if not _is_of_library(node, modules):
            bound = (alias.asname or alias.name for alias in node.names)
            yield from (name for name in bound if name not in ("nn", "F", "torch", HELPERS))


def _is_of_library(node: ast.ImportFrom, modules: Modules) -> bool:
    module = "" if node.level else node.module or ""
    return modules.is_library(module) or module.startswith("mindspore")
