"""Turn syntax-tree positions into places that people and editors understand."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.analyze.model import Place
from migrate.project import SourceFile
from migrate.resolve.usage import Usage
from migrate.syntax.ast_index import statements_of


class Placer:
    """Knows one file's text, so that byte columns become character columns."""

    def __init__(self, source: SourceFile, text: str) -> None:
        self.source = source
        self.path = str(source.path)
        self._ascii = text.isascii()
        self._lines = [] if self._ascii else text.split("\n")

    def at(self, node: ast.AST, scope: str = "") -> Place:
        """The place of a node."""
        line: int = getattr(node, "lineno", 0)
        column: int = getattr(node, "col_offset", 0)
        end_line: int = getattr(node, "end_lineno", None) or line
        end_column: int = getattr(node, "end_col_offset", None) or column
        return self._place(line, column, end_line, end_column, scope)

    def usage(self, usage: Usage) -> Place:
        return self._place(usage.line, usage.column, usage.end_line, usage.end_column, usage.scope)

    def nodes(self, tree: ast.Module, kinds: tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
        """All statements of some kinds."""
        return (node for node in statements_of(tree) if isinstance(node, kinds))

    def _place(self, line: int, column: int, end_line: int, end_column: int, scope: str) -> Place:
        if not self._ascii:
            column = self._characters(line, column)
            end_column = self._characters(end_line, end_column)
        cell, shown = self.source.place(line)
        end = end_line - line + shown
        return Place(self.path, shown, column + 1, cell, scope, end, end_column + 1)

    def _characters(self, line: int, column: int) -> int:
        """ast counts UTF-8 bytes; editors count characters."""
        if not 0 < line <= len(self._lines):
            return column
        return len(self._lines[line - 1].encode()[:column].decode(errors="replace"))
