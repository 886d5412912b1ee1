"""`if (n := x.shape[0]) > 2:`: Graph mode compiles no assignment in an expression. It gets a
line in front of the statement.
"""

from __future__ import annotations

import ast

from migrate.lower.function import SCOPES, CompiledFunction
from migrate.pipeline import becomes, declare
from migrate.syntax.edits import Edit

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.If, ast.For)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled"],
    examples=[
        becomes(
            "if (n := x.shape[0]) > 2:\n    x = x * n",
            "n = x.shape[0]\nif n > 2:\n    x = x * n",
        ),
    ],
)
def hoist_walrus(function: CompiledFunction) -> None:
    for node in function.of_kind(ast.NamedExpr):
        statement = function.statement_of(node)
        if not _comes_first(node, statement, function):
            continue
        start, end = _with_parentheses(node, function)
        function.edits.append(Edit(start, end, (node.target,)))
        begin = function.source.span(statement)[0]
        indent = function.source.indent_of(statement)
        function.edits.append(Edit(begin, begin, (node.target, " = ", node.value, f"\n{indent}")))
        return


def _comes_first(node: ast.NamedExpr, statement: ast.stmt, function: CompiledFunction) -> bool:
    """Evaluated whenever the statement is, and once."""
    if not isinstance(statement, _SIMPLE) or _is_elif(statement, function):
        return False
    start = function.source.span(statement)[0]
    line = function.source.text[function.source.text.rfind("\n", 0, start) + 1 : start]
    if line.strip():
        return False
    child: ast.AST = node
    while child is not statement:
        parent = function.parents[child]
        if isinstance(parent, (*_COMPREHENSIONS, *SCOPES, ast.NamedExpr)):
            return False
        if isinstance(parent, ast.BoolOp) and parent.values[0] is not child:
            return False
        if isinstance(parent, ast.IfExp) and parent.test is not child:
            return False
        child = parent
    return True


def _is_elif(statement: ast.stmt, function: CompiledFunction) -> bool:
    start = function.source.span(statement)[0]
    return function.source.text.startswith("elif", start)


def _with_parentheses(node: ast.NamedExpr, function: CompiledFunction) -> tuple[int, int]:
    """The expression with the parentheses around it, unless they are those of a call."""
    start, end = function.source.span(node)
    text = function.source.text
    if text[start - 1 : start] == "(" and text[end : end + 1] == ")":
        before = text[start - 2 : start - 1]
        if not (before.isalnum() or before in "_])"):
            return start - 1, end + 1
    return start, end
