"""Shapes of libcst nodes that cutting asks for.

libcst.matchers would say the same, but to import it takes longer than to cut.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

_ACTS = (cst.Call, cst.Await, cst.Yield, cst.NamedExpr)


def is_name(node: cst.CSTNode, *names: str) -> bool:
    return isinstance(node, cst.Name) and node.value in names


def is_own_attribute(node: cst.CSTNode) -> bool:
    """`self.a`"""
    return isinstance(node, cst.Attribute) and is_name(node.value, "self")


def is_base_constructor(node: cst.CSTNode) -> bool:
    """`super().__init__`, as it is called"""
    if not isinstance(node, cst.Attribute) or not isinstance(node.value, cst.Call):
        return False
    return node.attr.value == "__init__" and is_name(node.value.func, "super")


def only_statement(node: cst.CSTNode) -> cst.BaseSmallStatement | None:
    """That of a line which holds no other."""
    if isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1:
        return node.body[0]
    return None


def only_target(node: cst.CSTNode) -> cst.CSTNode | None:
    """`self.a` of the line `self.a = 1`"""
    statement = only_statement(node)
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        return statement.targets[0].target
    return None


def actions_in(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Calls, and what else does more than give a value."""
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, _ACTS):
            yield one
        pending += one.children
