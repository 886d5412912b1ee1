"""Integers and truth values that a network counts with: `hit = y > 0`, then `hit.sum()` and
`loss * hit`.

In torch no gradient reaches them. MindSpore adds up what comes back from each use, and fails where
the kinds of number differ. Used more than once as numbers, they are cut off where they are made.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.resolve.values import is_tensor
from migrate.rewrite.tensors.integer_casts import ends_here, is_differentiated, names_integers
from migrate.syntax.access import is_read, name_of
from migrate.syntax.ast_index import all_nodes, nodes_of, parents_of

_FUNCTIONS = frozenset(
    """
    argmax argmin argsort bool bucketize byte char eq ge gt int isfinite isinf isnan le logical_and
    logical_not logical_or logical_xor long lt ne nonzero searchsorted short
    """.split()  # noqa: SIM905
)
# The second of their results.
_WITH_INDICES = frozenset(
    """
    cummax cummin kthvalue max max_pool1d max_pool2d max_pool3d median min mode sort topk
    """.split()  # noqa: SIM905
)
# Of integers they give integers.
_METHODS = frozenset(
    """
    clamp cumsum flatten expand permute reshape squeeze sum transpose unsqueeze view
    """.split()  # noqa: SIM905
)
_OF_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)


def int_gradient_cuts(tree: ast.Module, context: Context, cut: set[ast.AST]) -> dict[ast.AST, str]:
    """The assignments of such values, with the name they get; casts that are cut off already are
    left out.
    """
    found = [
        (statement, name)
        for statement in nodes_of(tree, ast.Assign)
        if statement.value not in cut
        if (name := _integer_name(statement, context))
    ]
    if not found:
        return {}
    parents = parents_of(tree)
    return {
        statement: name
        for statement, name in found
        if is_differentiated(statement, parents, context)
        and _is_counted(statement, name, parents, context)
    }


def _integer_name(statement: ast.Assign, context: Context) -> str:
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and len(target.elts) == 2:
        function = _function(value, context)
        target = target.elts[1]
        integral = function in _WITH_INDICES
    else:
        integral = _is_integral(value, context)
    named = isinstance(target, ast.Name) and target.id != "_"
    return target.id if integral and named else ""  # type: ignore[attr-defined]


def _function(value: ast.expr, context: Context) -> str:
    """The last part of the name of torch's function that is called here."""
    usage = context.usage(value.func) if isinstance(value, ast.Call) else None
    return usage.api.rpartition(".")[2] if usage is not None else ""


def _is_integral_operation(value: ast.BinOp, context: Context) -> bool:
    sides = (value.left, value.right)
    integral = [_is_integral(side, context) for side in sides]
    if isinstance(value.op, _OF_BITS):
        return any(integral)
    if isinstance(value.op, ast.Div) or not any(integral):
        return False
    return all(known or _is_whole(side) for known, side in zip(integral, sides, strict=True))


def _is_integral(value: ast.expr, context: Context) -> bool:
    """A tensor of integers or truth values, as far as the expression says so."""
    if isinstance(value, ast.Compare):
        return any(is_tensor(context.type(part)) for part in (value.left, *value.comparators))
    if isinstance(value, ast.UnaryOp):
        return not isinstance(value.op, ast.Not) and _is_integral(value.operand, context)
    if isinstance(value, ast.BinOp):
        return _is_integral_operation(value, context)
    if not isinstance(value, ast.Call):
        return False
    function = _function(value, context)
    if function in _FUNCTIONS or (function in ("to", "type") and names_integers(value, context)):
        return True
    receiver = getattr(value.func, "value", None)
    return function in _METHODS and receiver is not None and _is_integral(receiver, context)


def _is_whole(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int)


def _is_counted(
    statement: ast.stmt, name: str, parents: dict[ast.AST, ast.AST], context: Context
) -> bool:
    """More than one use is for more than finding or choosing something."""
    around: ast.AST = statement
    while not isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        around = parents[around]
    uses = [
        node
        for node in all_nodes(around)
        if name_of(node) == name and is_read(node)
        if not ends_here(node, parents, context)
    ]
    return len(uses) > 1
