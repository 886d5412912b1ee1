"""Expressions too deep to be rewritten: libcst's parser takes time in the cube of the terms."""

from __future__ import annotations

import ast

from migrate.syntax.ast_index import nodes_of

DEEPEST_CHAIN = 1_000  # operands of `a + b + c ...`; 1,000 take a second, 3,000 half a minute


def too_deep(tree: ast.Module) -> ast.BinOp | None:
    """The first chain of operators with more operands than that, if there is one."""
    inner = {node.left for node in nodes_of(tree, ast.BinOp) if isinstance(node.left, ast.BinOp)}
    if len(inner) + 2 <= DEEPEST_CHAIN:
        return None
    for node in nodes_of(tree, ast.BinOp):
        if node in inner:
            continue
        length, part = 2, node
        while isinstance(part.left, ast.BinOp):
            length, part = length + 1, part.left
        if length > DEEPEST_CHAIN:
            found: ast.BinOp = node
            return found
    return None
