"""Which statements a gradient flows through: not those whose results are detached first."""

from __future__ import annotations

import ast

from migrate.plan.names import binds, changes, reads

# What these give carries no gradient, whatever they are called on.
_CUTTING_METHODS = frozenset({"detach", "item", "numpy", "tolist", "argmax", "size", "dim"})
_CUTTING_ATTRIBUTES = frozenset({"data", "shape", "device", "dtype"})


def gradient_reads(node: ast.AST) -> set[str]:
    """Names that are looked at with their gradients: `fake`, not `fake.detach()`."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute) and called.attr in _CUTTING_METHODS:
        return set()
    if isinstance(node, ast.Attribute) and node.attr in _CUTTING_ATTRIBUTES:
        return set()
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    found = {n for child in ast.iter_child_nodes(node) for n in gradient_reads(child)}
    return found & reads(node)


def surely_binds(statement: ast.AST) -> set[str]:
    """Names that have another value behind the statement, whichever way it goes."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return binds(statement)
    if isinstance(statement, ast.With):
        return {name for inner in statement.body for name in surely_binds(inner)}
    if isinstance(statement, ast.If) and statement.orelse:
        first, second = (
            {name for inner in branch for name in surely_binds(inner)}
            for branch in (statement.body, statement.orelse)
        )
        return first & second
    if isinstance(statement, ast.Try):
        ways = [[*statement.body, *statement.orelse], *(h.body for h in statement.handlers)]
        bound = [{name for inner in way for name in surely_binds(inner)} for way in ways]
        return set.intersection(*bound)
    return set()


def entering(statement: ast.AST) -> set[str]:
    """Names whose values from before the statement it looks at."""
    if not isinstance(statement, ast.If | ast.With):
        return reads(statement)
    heads: list[ast.AST] = (
        [statement.test] if isinstance(statement, ast.If) else list(statement.items)
    )
    found = {name for head in heads for name in reads(head)}
    for branch in (statement.body, getattr(statement, "orelse", [])):
        bound: set[str] = set()
        for inner in branch:
            found |= entering(inner) - bound
            bound |= surely_binds(inner)
    return found


def flowing(loss: ast.expr, region: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that the gradient of the loss goes through."""
    wanted = gradient_reads(loss)
    found = []
    for statement in reversed(region):
        if changes(statement) & wanted:
            found.append(statement)
            wanted |= gradient_reads(statement)
    return found[::-1]


def detached(loss: ast.expr, region: list[ast.stmt]) -> list[ast.stmt]:
    """Statements at the region's start whose results are only used as `fake.detach()`: they may
    stand in front of the step, and a later one may still take gradients through them.
    """
    found: list[ast.stmt] = []
    for index, statement in enumerate(region):
        rest: list[ast.AST] = [*region[index + 1 :], loss]
        names = binds(statement) if isinstance(statement, ast.Assign) else set()
        used = names & {name for part in rest for name in reads(part)}
        kept = [s for s in region[:index] if s not in found]
        if (
            used
            and not any(used & gradient_reads(part) for part in rest)
            and not any(changes(s) & reads(statement) for s in kept)
            and not any(changes(s) & names for s in region if s is not statement)
        ):
            found.append(statement)
    return found
