"""Slice: which statements the loss of a backward() depends on, and which of them a gradient flows
through. They become the body of the forward function.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context, is_module_value
from migrate.plan.find import Backward, Calls
from migrate.plan.names import binds, changes, reads, statements_below
from migrate.plan.no_gradient import without_gradient
from migrate.plan.parameters import may_use_parameters


def around(body: list[ast.stmt], backward: Backward) -> tuple[list[ast.stmt], int, ast.If | None]:
    """The block with the `if` one of whose branches calls backward(), and its place there."""
    for block, statement in statements_below(body):
        if isinstance(statement, ast.If) and (
            statement.body is backward.block or statement.orelse is backward.block
        ):
            return block, block.index(statement), statement
    return backward.block, backward.block.index(backward.statement), None


def bound_by(region: list[ast.stmt]) -> set[str]:
    """Names that the region gives a value, or whose value it changes."""
    return {name for statement in region for name in changes(statement)}


def find_region(
    backward: Backward,
    block: list[ast.stmt],
    at: int,
    special: set[int],
    calls: Calls,
    context: Context,
    freed: set[int],
) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The statements before backward() through which the loss depends on parameters.

    All others that it needs are data: they stay where they are, in front of the step. So are the
    results of `freed` ones, through which an earlier backward pass has gone.
    """
    needed = reads(backward.bare) - _modules(backward.bare, context)
    chain: list[int] = []
    for index in range(at - 1, -1, -1):
        statement = block[index]
        if id(statement) in special or isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        if id(statement) in freed:
            needed -= changes(statement)
        elif changes(statement) & needed:
            chain.append(index)
            needed -= surely_binds(statement)  # what it was before does not matter
            needed |= entering(statement) - _modules(statement, context)
    region_at: list[int] = []
    bound: set[str] = set()
    read: set[str] = set()
    for index in reversed(chain):
        statement = block[index]
        # A name that the region has read and that changes here must change inside as well.
        uses = bool(reads(statement) & bound or changes(statement) & read)
        if not uses and not without_gradient(statement, context):
            uses = may_use_parameters(statement, context)
        if uses:
            region_at.append(index)
            bound |= changes(statement)
            read |= reads(statement)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            bound -= binds(statement)  # data again from here on
    for index in chain:
        if index not in region_at and _starts_for(index, block, region_at, at):
            region_at.append(index)
    region_at.sort()
    return [block[i] for i in region_at], _later(block, region_at, at, special, calls)


def _modules(node: ast.AST, context: Context) -> set[str]:
    """Names of networks: what builds them is no part of a step."""
    return {
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and is_module_value(context.type(inner))
    }


def _starts_for(index: int, block: list[ast.stmt], region_at: list[int], at: int) -> bool:
    """`loss = 0`, `terms = []`: the start of what the region itself adds up."""
    statement = block[index]
    value = getattr(statement, "value", None)
    empty = isinstance(value, ast.Constant) or (
        isinstance(value, ast.List | ast.Dict) and not ast.unparse(value).strip("[]{}")
    )
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or not empty:
        return False
    names = binds(statement)
    inside = [block[i] for i in region_at if i > index]
    outside = [block[i] for i in range(index + 1, at) if i not in region_at]
    return any(names & changes(s) for s in inside) and not any(names & reads(s) for s in outside)


def _later(
    block: list[ast.stmt], region_at: list[int], at: int, special: set[int], calls: Calls
) -> list[ast.stmt]:
    """Statements between that look at the region's results: they go behind the backward pass.

    What an earlier backward pass of this block has computed is there already.
    """
    earlier = [
        block.index(other.statement)
        for other in calls.backwards
        if other.block is block and block.index(other.statement) < at
    ]
    start = max(earlier, default=-1) + 1
    bound: set[str] = set()
    read: set[str] = set()
    found: list[ast.stmt] = []
    for index in range(start, at):
        statement = block[index]
        if index in region_at:
            bound |= changes(statement)
            read |= reads(statement)
        elif id(statement) not in special and (
            reads(statement) & bound
            or (changes(statement) | _deleted(statement)) & (read | (bound if found else set()))
        ):
            found.append(statement)
            bound |= changes(statement)
            read |= reads(statement)
    return found


def _deleted(statement: ast.stmt) -> set[str]:
    return {t.id for t in getattr(statement, "targets", ()) if isinstance(t, ast.Name)}


def leaves(statement: ast.AST, in_loop: bool = False) -> bool:
    """`continue`, `break` or `return` of the code around: a function of its own cannot do that."""
    if isinstance(statement, ast.Return | ast.Yield | ast.YieldFrom):
        return True
    if isinstance(statement, ast.Continue | ast.Break):
        return not in_loop
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return False
    inside = in_loop or isinstance(statement, ast.For | ast.AsyncFor | ast.While)
    return any(leaves(child, inside) for child in ast.iter_child_nodes(statement))


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
