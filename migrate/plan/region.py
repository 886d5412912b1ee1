"""Which statements the loss of a backward() depends on: the body of the forward function."""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context, is_module_value
from migrate.plan.find import Backward, Calls
from migrate.plan.flow import entering, surely_binds
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
