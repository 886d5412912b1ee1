"""All nodes of a file's tree, walked once and kept: many steps look through the whole file."""

from __future__ import annotations

import ast
from typing import Any

_KEPT = "_every_node"


def every_node(tree: ast.Module) -> list[Any]:
    """What ast.walk gives, in its order. The tree must not change any more."""
    kept: list[Any] | None = getattr(tree, _KEPT, None)
    if kept is None:
        kept = [tree]
        for node in kept:  # grows while it is read
            for name in node._fields:
                value = getattr(node, name, None)
                if type(value) is list:
                    kept.extend([item for item in value if isinstance(item, ast.AST)])
                elif isinstance(value, ast.AST):
                    kept.append(value)
        setattr(tree, _KEPT, kept)
    return kept
