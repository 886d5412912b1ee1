"""Where the gradients of inputs are computed, and which statements go behind them."""

from __future__ import annotations

import ast

from migrate.flow import FunctionFlow
from migrate.flow.names import reads
from migrate.pipeline.refusal import Refusal
from migrate.plan.slice import leaves


def not_in_reach() -> Refusal:
    return Refusal(
        "MindSpore differentiates functions, not tensors that were computed before",
        "put the computation of outputs into a function of inputs and call mindspore.grad on it",
        "MS301",
    )


def place_of_gradients(
    region: list[ast.stmt],
    statement: ast.stmt,
    block: list[ast.stmt],
    ends: list[ast.expr],
    switched: list[ast.stmt],
    flow: FunctionFlow,
) -> tuple[ast.stmt, list[ast.stmt]]:
    """Where the gradients can be computed, and what must then go behind."""
    if not region:
        return statement, []
    changes = flow.names.changes
    order = {one: index for index, one in enumerate(block)}
    bound = {name for one in region for name in changes(one)}
    read = {name for one in (*region, *ends) for name in reads(one)}
    span = block[order[region[0]] : order[statement]]
    between = [s for s in span if s not in region and s not in switched]
    looking = _looking(between, bound, flow)
    place = region[-1] if looking else statement
    # The outputs need what is computed from the region's values.
    behind = [s for s in between if looking and order[s] > order[place]]
    deferred = [s for s in looking if order[s] < order[place]]
    if _skips_one(deferred, [s for s in between if s not in looking], order):
        raise not_in_reach()
    overwriting = _overwriting(region, [s for s in between if s not in deferred], order, flow)
    if any(changes(s) & read for s in (*behind, *overwriting, *deferred)):
        raise not_in_reach()
    return place, deferred


def _skips_one(
    deferred: list[ast.stmt], others: list[ast.stmt], order: dict[ast.stmt, int]
) -> bool:
    """`continue` in front of the gradients would pass by what has gone behind them."""
    return any(leaves(s) and order[s] > order[deferred[0]] for s in others if deferred)


def _overwriting(
    region: list[ast.stmt], others: list[ast.stmt], order: dict[ast.stmt, int], flow: FunctionFlow
) -> list[ast.stmt]:
    """Statements that change what an earlier statement of the region has read."""
    return [
        s
        for s in others
        if any(flow.names.changes(s) & reads(one) for one in region if order[one] < order[s])
    ]


def _looking(between: list[ast.stmt], bound: set[str], flow: FunctionFlow) -> list[ast.stmt]:
    """Statements that read results of the region, or what was made of them."""
    results, found = set(bound), []
    for statement in between:
        if reads(statement) & results:
            found.append(statement)
            results |= flow.names.changes(statement)
    return found
