"""Chains like `a.b.c...`, `f()()...` or `- - -x` that are longer than any person writes.

What walks or parses them takes time in the square of their length, and more stack than there is.
"""

from __future__ import annotations

import ast

LONGEST_CHAIN = 1_000
_LONG_LINE = 2 * LONGEST_CHAIN  # characters; a chain has at least two to each part
# The child that a chain goes on in.
_NEXT = {
    ast.Attribute: "value",
    ast.Call: "func",
    ast.Subscript: "value",
    ast.UnaryOp: "operand",
    ast.Lambda: "body",
    ast.IfExp: "orelse",
}


def chained_too_long(tree: ast.Module, text: str) -> int | None:
    """The line of the first such chain; nothing for nearly every file, at the cost of a look."""
    if max(map(len, text.split("\n")), default=0) < _LONG_LINE:
        return None
    for node in ast.walk(tree):
        length = 0
        part: ast.AST = node
        while (name := _NEXT.get(type(part))) is not None and length <= LONGEST_CHAIN:
            length, part = length + 1, getattr(part, name)
        if length > LONGEST_CHAIN:
            return getattr(node, "lineno", 0)
    return None
