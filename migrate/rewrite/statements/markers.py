"""Comments that statements carry: markers of findings, and those whose place went away."""

from __future__ import annotations

from typing import TypeVar

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.rewrite.node_pass import NodePass
from migrate.rewrite.statements.suites import GONE
from migrate.syntax.nodes import comment_line, comments_in
from migrate.syntax.text import comments

Compound = TypeVar(
    "Compound",
    cst.SimpleStatementLine,
    cst.If,
    cst.For,
    cst.While,
    cst.With,
    cst.Try,
    cst.FunctionDef,
    cst.ClassDef,
)


@declare(
    phase="rewrite",
    unit="node",
    after={
        "nested_changes": "it flags changes in place that a statement loses",
        "step_statements": "it empties statements, whose comments move",
        "input_blocks": "it empties statements, whose comments move",
    },
    examples=[
        becomes(
            """
            x = torch.cat(
                [x, y],  # both halves
                dim=1,  # channels
            )
            """,
            """
            x = ops.cat([x, y], axis=1)
            """,
        ),
    ],
)
class Markers(NodePass):
    """Keeps one list of markers for each open statement, and writes it above the statement."""

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        self.file.marks.append([])

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        if not updated.body:
            updated = updated.with_changes(body=[GONE])
        return self._marked(self._keep_comments(original, updated))

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self.file.marks.append([])

    def leave_ClassDef(self, original: cst.ClassDef, updated: cst.ClassDef) -> cst.ClassDef:
        return self._marked(updated)

    def visit_For(self, node: cst.For) -> None:
        self.file.marks.append([])

    def leave_For(self, original: cst.For, updated: cst.For) -> cst.For:
        return self._marked(updated)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.file.marks.append([])

    def leave_FunctionDef(
        self, original: cst.FunctionDef, updated: cst.FunctionDef
    ) -> cst.FunctionDef:
        return self._marked(updated)

    def visit_If(self, node: cst.If) -> None:
        self.file.marks.append([])

    def leave_If(self, original: cst.If, updated: cst.If) -> cst.If:
        return self._marked(updated)

    def visit_Try(self, node: cst.Try) -> None:
        self.file.marks.append([])

    def leave_Try(self, original: cst.Try, updated: cst.Try) -> cst.Try:
        return self._marked(updated)

    def visit_While(self, node: cst.While) -> None:
        self.file.marks.append([])

    def leave_While(self, original: cst.While, updated: cst.While) -> cst.While:
        return self._marked(updated)

    def visit_With(self, node: cst.With) -> None:
        self.file.marks.append([])

    def leave_With(self, original: cst.With, updated: cst.With) -> cst.With:
        return self._marked(updated)

    def _marked(self, node: Compound) -> Compound:
        marks = self.file.marks.pop()
        present = {line.comment.value for line in node.leading_lines if line.comment}
        added: list[cst.EmptyLine] = [
            comment_line(text) for text in dict.fromkeys(marks) if text not in present
        ]
        return node.with_changes(leading_lines=[*node.leading_lines, *added]) if added else node

    def _keep_comments(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        """A comment inside an argument that went away moves above the statement."""
        before = [] if original is updated else self._inner_comments(original)
        present = comments(updated) if before else []
        lost: list[cst.EmptyLine] = []
        for text in before:
            if text in present:
                present.remove(text)
            else:
                lost.append(comment_line(text))
        return (
            updated.with_changes(leading_lines=[*updated.leading_lines, *lost]) if lost else updated
        )

    def _inner_comments(self, statement: cst.SimpleStatementLine) -> list[str]:
        """Only a statement of several lines can hold a comment that a rewriting loses."""
        first = self.partner(statement.body[0]) if statement.body else None
        if first is None:
            return comments(statement)
        start, end = getattr(first, "lineno", 1), getattr(first, "end_lineno", 1)
        lines = self.context.lines[start - 1 : end]
        return comments_in("\n".join(lines)) if len(lines) > 1 else []
