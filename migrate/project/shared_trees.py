"""Trees of files that several questions about the whole program go through: parsed once for all of
them, as far as memory allows. Nobody changes these trees.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.project.parse import parse

if TYPE_CHECKING:
    from migrate.project.files import SourceFile

_MOST = 1_500_000  # characters of source whose trees stay
_trees: dict[SourceFile, tuple[str, ast.Module]] = {}


def shared_tree(source: SourceFile) -> ast.Module:
    """The tree of a file as it is written; ReadProblem says why it has none."""
    text = source.read()
    known = _trees.pop(source, None)
    tree = parse(source, text) if known is None or known[0] != text else known[1]
    _trees[source] = text, tree
    _make_room()
    return tree


def _make_room() -> None:
    """What was asked for last stays."""
    weight = sum(len(text) for text, _ in _trees.values())
    for source in list(_trees)[:-1]:
        if weight <= _MOST:
            return
        weight -= len(_trees.pop(source)[0])
