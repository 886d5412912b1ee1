"""Comments that statements carry: markers of findings, and those whose place went away."""

from __future__ import annotations

from typing import TypeVar

import libcst as cst

from migrate.rewrite.cells.containers import ContainerUses
from migrate.rewrite.statements.suites import GONE, two_targets
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


class MarkerRewriter(ContainerUses):
    """Keeps one list of markers for each open statement, and writes it above the statement."""

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        self._marks.append([])

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        if not updated_node.body:
            updated_node = updated_node.with_changes(body=[GONE])
        updated_node = self._keep_comments(original_node, updated_node)
        return self._marked(updated_node)

    def visit_Try(self, node: cst.Try) -> None:
        super().visit_Try(node)
        self._marks.append([])

    def leave_Try(self, original_node: cst.Try, updated_node: cst.Try) -> cst.Try:
        return self._marked(updated_node)

    def visit_While(self, node: cst.While) -> None:
        super().visit_While(node)
        self._marks.append([])

    def leave_While(self, original_node: cst.While, updated_node: cst.While) -> cst.While:
        return self._marked(updated_node)

    def visit_For(self, node: cst.For) -> None:
        super().visit_For(node)
        self._marks.append([])

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> cst.For:
        updated_node = super().leave_For(original_node, updated_node)
        return self._marked(two_targets(updated_node))

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        super().visit_ClassDef(node)
        self._marks.append([])

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        return self._marked(updated_node)

    def _marked(self, node: Compound) -> Compound:
        marks = self._marks.pop()
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
