"""`opt.zero_grad(); loss.backward(); opt.step()`: one statement a line, before any is rewritten.

Statements are replaced, moved and followed by others as whole lines. Lines that only assign stay as
they are, and so does a lone statement behind a colon unless it may be part of a training step.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from migrate.pipeline import becomes, declare, same
from migrate.pipeline.context import Context
from migrate.syntax.text import code
from migrate.syntax.walk import transform_lazily

_PARTS_OF_STEPS = (".backward(", ".step(", ".zero_grad(")


@declare(
    phase="plan",
    unit="module",
    examples=[
        becomes("x = x + 1; print(x)", "x = x + 1\nprint(x)"),
        same("x = 1; y = 2"),
    ],
)
def split_statements(tree: cst.Module, context: Context) -> cst.Module:
    """The tree with a line for each statement that calls something; most files have no others."""
    text = context.text
    if ";" not in text and not any(part in text for part in _PARTS_OF_STEPS):
        return tree
    return transform_lazily(tree, _Lines())


class _Lines(cst.CSTTransformer):
    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
        if len(updated_node.body) < 2 or "(" not in code(updated_node):
            return updated_node
        lines = _lines(updated_node.body)
        lines[0] = lines[0].with_changes(leading_lines=updated_node.leading_lines)
        end = updated_node.trailing_whitespace
        lines[-1] = lines[-1].with_changes(trailing_whitespace=end)
        return cst.FlattenSentinel(lines)

    def visit_SimpleStatementSuite(self, node: cst.SimpleStatementSuite) -> bool:
        return False

    def leave_SimpleStatementSuite(
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> cst.BaseSuite:
        text = code(updated_node)
        several = len(updated_node.body) > 1 and "(" in text
        if not several and not any(part in text for part in _PARTS_OF_STEPS):
            return updated_node
        lines = _lines(updated_node.body)
        end = updated_node.trailing_whitespace
        lines[-1] = lines[-1].with_changes(trailing_whitespace=end)
        return cst.IndentedBlock(body=lines)


def _lines(statements: Sequence[cst.BaseSmallStatement]) -> list[cst.SimpleStatementLine]:
    return [
        cst.SimpleStatementLine(body=[one.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
        for one in statements
    ]
