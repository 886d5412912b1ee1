"""Expressions too deep to be rewritten: libcst's parser takes time in the cube of the terms."""

from __future__ import annotations

import ast

from migrate.syntax.ast_index import nodes_of

DEEPEST_CHAIN = 1_000  # operands of `a + b + c ...`; 1,000 take a second, 3,000 half a minute


def too_deep(tree: ast.Module) -> ast.expr | None:
    """The first chain of operators with more operands than that, if there is one.

    `a and b and c` is one node of the ast, and as deep as its operands for libcst, which has no
    guard there: 20,000 of them overflow the stack of the process.
    """
    tests: list[ast.BoolOp] = nodes_of(tree, ast.BoolOp)
    found: ast.expr | None = next((one for one in tests if len(one.values) > DEEPEST_CHAIN), None)
    if found is not None:
        return found
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
            found = node
            break
    return found
