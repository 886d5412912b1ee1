"""Which pieces of the helper module a ported file names."""

from __future__ import annotations

import ast

from migrate.syntax.access import name_of
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.helper_import import helper_alias
from migrate.syntax.import_planner import HELPERS

# The second where the file has a name `helpers` of its own.
_MODULES = (HELPERS, f"ms_{HELPERS}")


# Take effect when the module is imported, and are named by no one.
INSTALLED = ("watched_settings", "formatted_tensors", "shown_tensors", "shown_layers", "own_draws")


def used_helpers(tree: ast.Module) -> set[str]:
    """The members of the helper module in code and in quoted annotations."""
    found: set[str] = set()
    modules = {*_MODULES, helper_alias(tree)}
    for node in nodes_of(tree, ast.Attribute):
        if name_of(node.value) in modules:
            found.add(node.attr)
    for node in nodes_of(tree, ast.Constant):
        if isinstance(node.value, str) and f"{HELPERS}." in node.value:
            found |= _quoted(node.value)
    return found


def _quoted(text: str) -> set[str]:
    """Those of `"helpers.LSTM | None"`; ordinary text is not an expression."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return set()
    return used_helpers(tree)
