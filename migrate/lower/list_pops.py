"""`skip = skips.pop()`: compiled, a value of unknown type, which the code behind may not take."""

from __future__ import annotations

import ast

from migrate.lower.function import CompiledFunction, Line
from migrate.lower.nonescaping_containers import is_own
from migrate.pipeline import becomes, declare, same
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes

_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
# What stands in one of these is not computed each time, or not in this order.
_CONDITIONAL = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension, ast.NamedExpr)
_ENDS = {-1: ("[-1]", "[:-1]"), 0: ("[0]", "[1:]")}


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled", "types"],
    examples=[
        becomes("skips = [x]\ny = skips.pop()", "skips = [x]\ny = skips[-1]\nskips = skips[:-1]"),
        becomes(
            "skips = [x]\ny = torch.cat([y, skips.pop(0)])",
            "skips = [x]\nlast = skips[0]\nskips = skips[1:]\ny = ops.cat([y, last])",
        ),
        same("y = self.skips.pop()"),
    ],
)
def list_pops(function: CompiledFunction) -> None:
    """The item, then a list without it; for a list that the function has to itself."""
    for call in function.of_kind(ast.Call):
        method = call.func
        if not isinstance(method, ast.Attribute) or method.attr != "pop" or call.keywords:
            continue
        ends = _ENDS.get(_index(call))  # type: ignore[arg-type]
        if ends is None or not is_own(method.value, "list", function):
            continue
        assert isinstance(method.value, ast.Name)
        lines = _lines(call, method.value.id, *ends, function)
        if lines:
            function.replace_statement(function.statement_of(call), *lines)
            return


def _index(call: ast.Call) -> int | None:
    if not call.args:
        return -1
    try:
        index = ast.literal_eval(call.args[0])
    except ValueError:
        return None
    return index if type(index) is int and len(call.args) == 1 else None


def _lines(
    call: ast.Call, name: str, item: str, rest: str, function: CompiledFunction
) -> list[Line]:
    statement = function.statement_of(call)
    shorter = f"{name} = {name}{rest}"
    if isinstance(statement, ast.Expr) and statement.value is call:
        return [shorter]
    if isinstance(statement, ast.Assign) and statement.value is call:
        function.replace(call, f"{name}{item}")
        return [[statement], shorter]
    mentions = [n for n in all_nodes(statement) if name_of(n) == name]
    if not isinstance(statement, _SIMPLE) or len(mentions) != 1:
        return []
    around: ast.AST = call
    while around is not statement:
        around = function.parents[around]
        if isinstance(around, _CONDITIONAL):
            return []
    last = function.fresh("last")
    function.replace(call, last)
    return [f"{last} = {name}{item}", shorter, [statement]]
