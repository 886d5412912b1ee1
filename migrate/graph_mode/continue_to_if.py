"""`if rows.numel() == 0: continue` in a loop over layers: a `continue` that hangs on a tensor does
not compile there, and the rest of the round in an `if` of its own does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.syntax.nodes import atomic
from migrate.syntax.walk import transform_lazily

_OPPOSITES: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
}
# Questions that are answered when the graph is built.
_SETTLED = frozenset({"isinstance", "hasattr", "getattr", "len", "callable", "type"})
_MEASURES = frozenset({"size", "shape"})


@declare(
    phase="graph_mode",
    unit="function",
    needs=["compiled"],
    after={
        "split_and": "parts that are constants are settled before a `continue` hangs on them",
    },
    examples=[
        becomes(
            """
            for layer in self.layers:
                rows = layer(x)
                if rows.numel() == 0:
                    continue
                x = x + rows
            """,
            """
            for layer in self.layers:
                rows = layer(x)
                if rows.size != 0:
                    x = x + rows
            """,
        ),
    ],
)
def continue_to_if(function: cst.FunctionDef, text: str, context: Context) -> cst.FunctionDef:
    """`if rows.size != 0:` and what followed the `continue`."""
    if "continue" not in text:
        return function
    return transform_lazily(function, _Loops())


class _Loops(cst.CSTTransformer):
    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> cst.For:
        return updated_node.with_changes(body=_nested(updated_node.body))

    def leave_While(self, original_node: cst.While, updated_node: cst.While) -> cst.While:
        return updated_node.with_changes(body=_nested(updated_node.body))


def _nested(block: cst.BaseSuite) -> cst.BaseSuite:
    if not isinstance(block, cst.IndentedBlock):
        return block
    for place, statement in enumerate(block.body):
        rest = block.body[place + 1 :]
        if not isinstance(statement, cst.If) or not rest or not _is_due(statement):
            continue
        before = _before_continue(statement)
        if before is None:
            continue
        inner = _nested(cst.IndentedBlock(_with_comments(statement, rest)))
        if before:
            first = statement.body.with_changes(body=before)
            nested = statement.with_changes(body=first, orelse=cst.Else(inner))
        else:
            nested = statement.with_changes(test=_opposite(statement.test), body=inner)
        return block.with_changes(body=[*block.body[:place], nested])
    return block


def _before_continue(statement: cst.If) -> list[cst.CSTNode] | None:
    """What the branch does before it goes on to the next round; None where it does not go on."""
    if statement.orelse is not None:
        return None
    body = list(statement.body.body)
    last = body[-1]
    if isinstance(last, cst.SimpleStatementLine) and len(last.body) == 1:
        last = last.body[0]
    return body[:-1] if isinstance(last, cst.Continue) else None


def _with_comments(
    statement: cst.If, rest: Sequence[cst.BaseStatement]
) -> Sequence[cst.BaseStatement]:
    """What was said of the `continue` is said of what is not skipped."""
    branch = statement.body
    said: list[cst.EmptyLine] = []
    if isinstance(branch, cst.SimpleStatementSuite):
        end = branch.trailing_whitespace
    else:
        last = branch.body[-1]
        assert isinstance(last, cst.SimpleStatementLine)
        said = [line for line in last.leading_lines if line.comment is not None]
        end = last.trailing_whitespace
    if end.comment is not None:
        said.append(cst.EmptyLine(comment=end.comment))
    first: Any = rest[0]
    lines = [*first.leading_lines]
    while said and lines and lines[0].comment is None:
        del lines[0]
    return [first.with_changes(leading_lines=[*said, *lines]), *rest[1:]]


def _is_due(statement: cst.If) -> bool:
    """Whether the test may hang on a tensor: it calls something, or asks for a size or an item."""
    found = _Asks()
    statement.test.visit(found)
    return found.tensor


class _Asks(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.tensor = False

    def visit_Call(self, node: cst.Call) -> None:
        if not isinstance(node.func, cst.Name) or node.func.value not in _SETTLED:
            self.tensor = True

    def visit_Subscript(self, node: cst.Subscript) -> None:
        self.tensor = self.tensor or isinstance(node.value, cst.Name)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self.tensor = self.tensor or node.attr.value in _MEASURES


def _opposite(test: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = test.expression
        return inner.with_changes(lpar=[], rpar=[]) if len(inner.lpar) == 1 else inner
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        (compared,) = test.comparisons
        other = _OPPOSITES.get(type(compared.operator))
        if other is not None:
            return test.with_changes(comparisons=[compared.with_changes(operator=other())])
    held = test if isinstance(test, cst.Comparison) else atomic(test)
    return cst.UnaryOperation(cst.Not(), held)
