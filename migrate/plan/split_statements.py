"""`opt.zero_grad(); loss.backward(); opt.step()`: one statement a line, before any is rewritten.

Statements are replaced, moved and followed by others as whole lines. Lines that only assign stay as
they are, and so does a lone statement behind a colon, unless its function trains: any call there
may be part of a training step.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from migrate.pipeline import becomes, declare, same
from migrate.pipeline.context import Context
from migrate.syntax.access import attribute_of
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.children import code_nodes
from migrate.syntax.walk import transform_lazily

_PARTS_OF_STEPS = frozenset({"backward", "step", "zero_grad"})


@declare(
    phase="plan",
    unit="module",
    examples=[
        becomes("x = x + 1; print(x)", "x = x + 1\nprint(x)"),
        becomes(
            "def f(schedule, c):\n    schedule.step()\n    if c: print(c)",
            "def f(schedule, c):\n    schedule.step()\n    if c:\n        print(c)",
        ),
        same("x = 1; y = (2, 3)"),
        same('def f(c):\n    """Calls x.step()."""\n    if c: print(c)'),
        same("def f(c):\n    if c: print(c)"),
    ],
)
def split_statements(tree: cst.Module, context: Context) -> cst.Module:
    """The tree with a line for each statement that calls something; most files have no others."""
    trains = any(
        attribute_of(call.func) in _PARTS_OF_STEPS for call in nodes_of(context.tree, ast.Call)
    )
    if ";" not in context.text and not trains:
        return tree
    return transform_lazily(tree, _Lines(trains))


class _Lines(cst.CSTTransformer):
    def __init__(self, trains: bool) -> None:
        super().__init__()
        self._file_trains = trains
        self._trains: list[bool] = []  # of the functions around

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        outer = bool(self._trains) and self._trains[-1]
        self._trains.append(self._file_trains and (outer or _has_steps(node)))

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self._trains.pop()
        return updated_node

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
        if len(updated_node.body) < 2 or not _calls(updated_node):
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
        calls = _calls(updated_node) and (len(updated_node.body) > 1 or self._in_training())
        if not calls and not _has_steps(updated_node):
            return updated_node
        lines = _lines(updated_node.body)
        end = updated_node.trailing_whitespace
        lines[-1] = lines[-1].with_changes(trailing_whitespace=end)
        return cst.IndentedBlock(body=lines)

    def _in_training(self) -> bool:
        return self._trains[-1] if self._trains else self._file_trains


def _calls(node: cst.CSTNode) -> bool:
    return any(isinstance(part, cst.Call) for part in code_nodes(node))


def _has_steps(node: cst.CSTNode) -> bool:
    """A call of `loss.backward()` and the like below the node."""
    return any(
        isinstance(part, cst.Call)
        and isinstance(part.func, cst.Attribute)
        and part.func.attr.value in _PARTS_OF_STEPS
        for part in code_nodes(node)
    )


def _lines(statements: Sequence[cst.BaseSmallStatement]) -> list[cst.SimpleStatementLine]:
    return [
        cst.SimpleStatementLine(body=[one.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
        for one in statements
    ]
