"""Does the program name infinity? `float("-inf")`, `math.inf`, `torch.inf`."""

from __future__ import annotations

import ast

from migrate.flow.mentions import trees_with
from migrate.project import Project
from migrate.syntax.ast_index import nodes_of

_NAMES = frozenset({"inf", "Inf", "infty", "Infinity", "NINF", "PINF"})
_TEXTS = frozenset({"inf", "infinity"})


def names_infinity(project: Project) -> bool:
    return any(_names(tree) for tree in trees_with(project, "inf", "Inf", "INF"))


def _names(tree: ast.Module) -> bool:
    return (
        any(node.attr in _NAMES for node in nodes_of(tree, ast.Attribute))
        or any(alias.name in _NAMES for alias in nodes_of(tree, ast.alias))
        or any(_is_text(node.value) for node in nodes_of(tree, ast.Constant))
    )


def _is_text(value: object) -> bool:
    if isinstance(value, float):
        return value in (float("inf"), float("-inf"))  # 1e999
    return isinstance(value, str) and value.strip().lower().lstrip("+-") in _TEXTS
