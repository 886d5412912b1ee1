"""`skip = skips.pop()`: compiled, a value of unknown type, which the code behind may not take."""

from __future__ import annotations

import ast
import textwrap

import libcst as cst

from migrate.graph_mode.vars_of_kind import lists_in
from migrate.pipeline import becomes, declare, same
from migrate.pipeline.context import Context
from migrate.syntax.text import code
from migrate.syntax.walk import transform_lazily

# What may read a list as a whole without keeping it.
_READERS = frozenset(
    {"cat", "concat", "enumerate", "len", "list", "reversed", "stack", "sum", "zip"}
)
_KEPT = {"": ("-1", ":-1"), "-1": ("-1", ":-1"), "0": ("0", "1:")}


@declare(
    phase="graph_mode",
    unit="function",
    needs=["compiled"],
    examples=[
        becomes("skips = [x]\ny = skips.pop()", "skips = [x]\ny = skips[-1]\nskips = skips[:-1]"),
        same("y = self.skips.pop()"),
    ],
)
def expand_pop(function: cst.FunctionDef, text: str, context: Context) -> cst.FunctionDef:
    """`skip = skips[-1]` and `skips = skips[:-1]`, for a list that the function keeps to itself."""
    if ".pop(" not in text:
        return function
    lists = nonescaping_lists(ast.parse(textwrap.dedent(text)).body[0])
    if not lists:
        return function
    return transform_lazily(function, _Pops(lists))


class _Pops(cst.CSTTransformer):
    def __init__(self, lists: set[str]) -> None:
        super().__init__()
        self._lists = lists

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
        small = updated_node.body[0]
        if len(updated_node.body) != 1 or not isinstance(small, cst.Assign | cst.Expr):
            return updated_node
        call = small.value
        if (
            not isinstance(call, cst.Call)
            or not isinstance(call.func, cst.Attribute)
            or call.func.attr.value != "pop"
            or code(call.func.value) not in self._lists
        ):
            return updated_node
        place = ", ".join(code(argument.value) for argument in call.args)
        if place not in _KEPT:
            return updated_node
        index, rest = _KEPT[place]
        name = code(call.func.value)
        shorter = cst.parse_statement(f"{name} = {name}[{rest}]")
        assert isinstance(shorter, cst.SimpleStatementLine)
        if isinstance(small, cst.Expr):
            return shorter.with_changes(leading_lines=updated_node.leading_lines)
        taken = small.with_changes(value=cst.parse_expression(f"{name}[{index}]"))
        return cst.FlattenSentinel([updated_node.with_changes(body=[taken]), shorter])


def nonescaping_lists(function: ast.AST) -> set[str]:
    """Variables that only ever hold a list made here, which nobody else is given to keep."""
    fine: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute | ast.Subscript):
            fine.add(id(node.value))
        elif isinstance(node, ast.For | ast.comprehension):
            fine.add(id(node.iter))
        elif isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in _READERS:
                fine |= {id(argument) for argument in node.args}
    shared = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in fine
    }
    return lists_in(function) - shared
