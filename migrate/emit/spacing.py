"""How far apart the definitions of a module stand."""

from __future__ import annotations

import ast


def spaced(parts: list[str]) -> str:
    """Definitions two lines apart, constants that follow each other on lines of their own."""
    text, follows = parts[0], False
    for part in parts[1:]:
        constant = isinstance(ast.parse(part).body[0], (ast.Assign, ast.AnnAssign))
        text += ("\n" if follows and constant else "\n\n\n") + part
        follows = constant
    return text
