"""What an earlier port has left in a file: the import of its helper module, or MindSpore's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.syntax.ast_index import nodes_of
from migrate.syntax.import_planner import HELPER_MODULE


def helper_alias(tree: ast.Module) -> str:
    """The name that the top level of a file gives the helper module; empty where it has none."""
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
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


def with_way_up(code: str, way: str) -> str:
    """The code with a line, which uses os and sys, in front of the import of the helper module."""
    lines = code.split("\n")
    tree = ast.parse(code)
    if way in lines:
        return code
    for node in tree.body:
        if isinstance(node, ast.Import) and any(n.name == HELPER_MODULE for n in node.names):
            before = {
                alias.name
                for other in tree.body[: tree.body.index(node)]
                if isinstance(other, ast.Import)
                for alias in other.names
                if alias.asname is None
            }
            missing = [f"import {name}" for name in ("os", "sys") if name not in before]
            blank = [""] if missing or lines[node.lineno - 2].strip() else []
            lines[node.lineno - 1 : node.lineno - 1] = [*missing, *blank, way, ""]
            break
    return "\n".join(lines)
