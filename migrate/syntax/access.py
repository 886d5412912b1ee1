"""Is this place read or bound? `x`, `x.a` and `x[i]` say so themselves.

`del x` is neither. Which binding a read sees is a question for `flow`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable


def is_read(node: ast.AST) -> bool:
    """`x` of `f(x)`; the target of `x += 1` is a store."""
    return getattr(node, "ctx", None).__class__ is ast.Load


def is_store(node: ast.AST) -> bool:
    """`x` of `x = 1`, of `for x in y`, of `x += 1`."""
    return getattr(node, "ctx", None).__class__ is ast.Store


def read_of(name: str) -> ast.Name:
    """The expression that reads a variable, for questions about one that is only named."""
    return ast.Name(name, ast.Load())


def stored_names(nodes: Iterable[ast.AST]) -> set[str]:
    """The variables that are bound among these nodes."""
    return {node.id for node in nodes if isinstance(node, ast.Name) and is_store(node)}


def name_of(node: ast.AST | None) -> str | None:
    """`x` of the variable `x`; None for any other expression."""
    return node.id if isinstance(node, ast.Name) else None


def method_of(node: ast.AST | None) -> str | None:
    """`step` of `optimizer.step()`; None for what calls no method."""
    called = node.func if isinstance(node, ast.Call) else None
    return called.attr if isinstance(called, ast.Attribute) else None


def attribute_of(node: ast.AST | None) -> str | None:
    """`b` of `a.b`, whatever a is; None for any other expression."""
    return node.attr if isinstance(node, ast.Attribute) else None
