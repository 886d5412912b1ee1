"""`torch.cat([x, skips.pop()])` in compiled code: what cannot stand inside an expression gets a
name on a line in front of the statement.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.rewrite.effects import Effects, HoistedLine
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.collapse_lines import on_one_line
from migrate.syntax.nodes import expression


@declare(
    phase="rewrite",
    unit="node",
    after={
        "markers": "the first line takes the comments of the statement",
        "writes": "it asks for lines when it leaves a statement",
        "nested_changes": "it asks for lines, too",
        "stateful_item_writes": "the lines go before all statements that one became",
    },
    examples=[
        becomes(
            "h = self.args\nx = torch.cat([x, h.pop()], dim=1)",
            "h = self.args\nlast = h.pop()\nx = ops.cat([x, last], axis=1)",
        ),
    ],
)
class HoistedLines(NodePass):
    """Writes the lines that other passes asked for."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        self._effects.lines, self._effects.lines_after = [], []
        self._effects.in_line = True

    def leave_SimpleStatementLine(self, original: cst.SimpleStatementLine, updated: Any) -> Any:
        self._effects.in_line = False
        behind = [cst.parse_statement(line) for line in self._effects.lines_after]
        self._effects.lines_after = []
        if behind:
            now = list(updated) if isinstance(updated, cst.FlattenSentinel) else [updated]
            updated = cst.FlattenSentinel([*now, *behind])
        if not self._effects.lines:
            return updated
        lines = [cst.SimpleStatementLine([_statement(line)]) for line in self._effects.lines]
        self._effects.lines = []
        first, *others = list(updated) if isinstance(updated, cst.FlattenSentinel) else [updated]
        lines[0] = lines[0].with_changes(leading_lines=first.leading_lines)
        return cst.FlattenSentinel([*lines, first.with_changes(leading_lines=[]), *others])


def _statement(line: HoistedLine) -> cst.BaseSmallStatement:
    if isinstance(line, cst.BaseSmallStatement):
        return line
    name, value = line
    return cst.Assign([_target(name)], on_one_line(value))


def _target(name: str) -> cst.AssignTarget:
    """A name, or an item: `states[-1]`."""
    return cst.AssignTarget(expression(name))  # type: ignore[arg-type]
