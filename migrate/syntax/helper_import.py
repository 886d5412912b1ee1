"""What an earlier port has left in a file: the import of its helper module, or MindSpore's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.syntax.ast_index import nodes_of
from migrate.syntax.import_planner import HELPER_MODULE


def helper_alias(tree: ast.Module) -> str:
    """The name that the top level of a file gives the helper module; empty where it has none."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if alias.asname and alias.name.rpartition(".")[2] == HELPER_MODULE:
                    return alias.asname
    return ""


def is_ported(tree: ast.Module) -> bool:
    """Whether a file has been ported: it imports MindSpore or the helper module.

    What is not known in it is no tensor of torch's then.
    """
    return any(
        name.partition(".")[0] == "mindspore" or name.rpartition(".")[2] == HELPER_MODULE
        for name in _imported(tree)
    )


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in nodes_of(tree, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.ImportFrom):
            head = "" if node.level else f"{node.module or ''}."
            yield from (f"{head}{alias.name}" for alias in node.names)
        else:
            yield from (alias.name for alias in node.names)
