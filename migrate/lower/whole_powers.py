"""`n ** k` of whole numbers with a negative k: the compiler computes with whole numbers and gives
0, where Python gives a fraction.
"""

from __future__ import annotations

import ast

from migrate.lower.function import CompiledFunction
from migrate.lower.kinds import bound_values, is_whole
from migrate.pipeline import becomes, declare, same
from migrate.resolve.values import Known, options_of
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.edits import Piece

_CHEAP = (ast.Name, ast.Attribute, ast.Constant, ast.Subscript)


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled", "types"],
    examples=[
        becomes(
            "n = x.shape[0]\nk = -1 if n > 2 else 1\nx = x * n ** k",
            "n = x.shape[0]\nk = -1 if n > 2 else 1\nx = x * (n ** k if k >= 0 else 1 / n ** -k)",
        ),
        becomes(
            "for i in range(3):\n    x = x * 2 ** -i",
            "for i in range(3):\n    x = x * (2 ** -i if i <= 0 else 1 / 2 ** i)",
        ),
        becomes(
            "for i in range(-1, 2):\n    x = x * 2 ** i",
            "for i in range(-1, 2):\n    x = x * (2 ** i if i >= 0 else 1 / 2 ** -i)",
        ),
        same("for i in range(1, 3):\n    x = x * 2 ** i"),
        same("for i in range(3):\n    x = x * 2.0 ** -i"),
    ],
)
def whole_powers(function: CompiledFunction) -> None:
    for node in function.of_kind(ast.BinOp, ast.Call):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            base, power = node.left, node.right
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "pow":
            if len(node.args) != 2 or node.keywords:
                continue
            base, power = node.args
        else:
            continue
        if _is_due(node, base, power, function):
            function.replace(node, *_written(base, power))


def _is_due(node: ast.expr, base: ast.expr, power: ast.expr, function: CompiledFunction) -> bool:
    if _is_constant(power) or not _may_be_negative(power, function):
        return False  # a constant's sign is known: the rewriter sees to it
    if not is_whole(base, function) or not is_whole(power, function):
        return False
    parent = function.parents.get(node)
    written = isinstance(parent, ast.IfExp) or (
        isinstance(parent, ast.BinOp) and isinstance(function.parents.get(parent), ast.IfExp)
    )
    return not written and _is_cheap(base) and _is_cheap(power)


def _is_constant(node: ast.expr) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant)


def _may_be_negative(power: ast.expr, function: CompiledFunction) -> bool:
    """Not the rounds of a loop, a length, or what is added to them."""
    if isinstance(power, ast.UnaryOp):
        return isinstance(power.op, ast.USub)
    if isinstance(power, ast.BinOp):
        differs = isinstance(power.op, ast.Sub) and _may_exceed(power.right, power.left, function)
        return differs or any(isinstance(side, ast.UnaryOp) for side in (power.left, power.right))
    if isinstance(power, ast.Name):
        values = list(bound_values(power.id, function))
        if values and all(_counts(value, power.id, function) for value in values):
            return False
    options = options_of(function.value_of(power))
    return not all(isinstance(one, Known) and one.value >= 0 for one in options)


def _may_exceed(right: ast.expr, left: ast.expr, function: CompiledFunction) -> bool:
    """Of `left - right`: a setting less a constant does not, the round of a loop does."""
    if not isinstance(right, ast.Constant):
        return True
    if not isinstance(left, ast.Name) or not isinstance(right.value, int):
        return False
    return any(
        isinstance(node, (ast.For, ast.comprehension))
        and name_of(node.target) == left.id
        and _first_round(node.iter) < right.value
        for node in all_nodes(function.node)
    )


def _first_round(rounds: ast.expr) -> float:
    """Where `range(...)` begins."""
    if not isinstance(rounds, ast.Call) or getattr(rounds.func, "id", "") != "range":
        return float("inf")
    if len(rounds.args) < 2:
        return 0
    first = rounds.args[0]
    known = isinstance(first, ast.Constant) and isinstance(first.value, int)
    return first.value if known else float("-inf")  # type: ignore[attr-defined]


def _counts(value: ast.expr | None, name: str, function: CompiledFunction) -> bool:
    """A constant, or the variable of loops over range or enumerate."""
    if value is not None:
        return isinstance(value, ast.Constant)
    rounds = [
        node.iter
        for node in all_nodes(function.node)
        if isinstance(node, (ast.For, ast.comprehension))
        and any(name_of(n) == name for n in all_nodes(node.target))
    ]
    return bool(rounds) and all(isinstance(it, ast.Call) and _counts_up(it) for it in rounds)


def _counts_up(call: ast.Call) -> bool:
    """`range(n)`, `range(1, n)`, `enumerate(x)`: from zero or more, upwards."""
    name = getattr(call.func, "id", "")
    if name == "range" and len(call.args) > 1:
        first, *rest = call.args
        steps = rest[1:]
        return all(isinstance(n, ast.Constant) for n in (first, *steps))
    return name in ("range", "enumerate")


def _is_cheap(node: ast.expr) -> bool:
    """May be read several times."""
    if isinstance(node, ast.UnaryOp):
        return _is_cheap(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_cheap(node.left) and _is_cheap(node.right)
    return isinstance(node, _CHEAP)


def _written(base: ast.expr, power: ast.expr) -> list[Piece]:
    left = _atom(base)
    negative = isinstance(power, ast.UnaryOp) and isinstance(power.op, ast.USub)
    held = _atom(power.operand if negative else power)  # type: ignore[attr-defined]
    signs = ("-", "<=", "") if negative else ("", ">=", "-")
    test: list[Piece] = [" if ", *held, f" {signs[1]} 0 else 1 / "]
    return ["(", *left, f" ** {signs[0]}", *held, *test, *left, f" ** {signs[2]}", *held, ")"]


def _atom(node: ast.expr) -> list[Piece]:
    return [node] if isinstance(node, _CHEAP) else ["(", node, ")"]
