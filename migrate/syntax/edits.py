"""Edits of source text by the nodes of its stdlib tree.

`Edit.of(statement, "y = ", statement.value)` replaces the statement; a node among the pieces stands
for its own source, edits inside it included. What is not edited keeps every character, and each
node of the new tree can be traced to the node of the old one that it was copied from
(`Edited.origin_of`), so that facts about the old tree hold for the new one.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from migrate.syntax.ast_index import all_nodes, nodes_of

Piece = str | ast.AST


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters start to end give way to the pieces."""

    start: int
    end: int
    pieces: tuple[Piece, ...]


class SourceText:
    """A text with its tree: where each node stands, in characters."""

    def __init__(self, text: str, tree: ast.Module | None = None) -> None:
        self.text = text
        self.tree = ast.parse(text) if tree is None else tree

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        """The offset of each line."""
        return [0, *accumulate(len(line) + 1 for line in self.lines)]

    def offset(self, line: int, column: int) -> int:
        """Of a line (from 1) and a column in bytes of UTF-8, as ast counts them."""
        text = self.lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode())
        return self._starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Start and end; a definition begins at its first decorator."""
        first = min(
            [node, *getattr(node, "decorator_list", ())],
            key=lambda n: (n.lineno, n.col_offset),
        )
        start = self.offset(first.lineno, first.col_offset)
        if first is not node:
            start = self.text.rindex("@", 0, start)
        return start, self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    @cached_property
    def names(self) -> set[str]:
        """Every variable and parameter of the file."""
        found = {node.id for node in nodes_of(self.tree, ast.Name)}
        return found | {node.arg for node in nodes_of(self.tree, ast.arg)}

    def line_of(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def source_of(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def indent_of(self, node: ast.stmt) -> str:
        """The white space in front of the statement's line."""
        line = self.lines[node.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def replace(self, node: ast.AST, *pieces: Piece) -> Edit:
        return Edit(*self.span(node), pieces)

    def stands_alone(self, statement: ast.stmt) -> bool:
        """Nothing but white space and a comment stands beside the statement in its lines."""
        start, end = self.span(statement)
        before = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        after = self.text[end : (self.text + "\n").index("\n", end)]
        return not before.strip() and not after.split("#")[0].strip()


@dataclass(slots=True)
class Edited:
    """The new text, and for each copied part of it where it stood before."""

    source: SourceText
    _copies: list[tuple[int, int, int]] = field(
        default_factory=list
    )  # new start, length, old start

    def old_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Of characters that were copied as a whole."""
        place = bisect_right(self._copies, (start, 1 << 60, 0)) - 1
        if place < 0:
            return None
        new, length, old = self._copies[place]
        return (start - new + old, end - new + old) if end <= new + length else None

    def old_offset(self, offset: int) -> int:
        """Of a character, or of the last copied one in front of it."""
        place = bisect_right(self._copies, (offset, 1 << 60, 0)) - 1
        if place < 0:
            return 0
        new, length, old = self._copies[place]
        return old + min(offset - new, max(length - 1, 0))


def apply_edits(source: SourceText, edits: Iterable[Edit]) -> Edited:
    """Insertions first, then outer edits; of two that overlap otherwise, the first one counts."""
    ordered = sorted(dict.fromkeys(edits), key=lambda e: (e.start, e.end > e.start, -e.end))
    parts: list[str] = []
    copies: list[tuple[int, int, int]] = []
    length = 0

    def put(text: str, old: int | None) -> None:
        nonlocal length
        if text and old is not None:
            copies.append((length, len(text), old))
        parts.append(text)
        length += len(text)

    def emit(start: int, end: int, inside: Sequence[Edit]) -> None:
        at = start
        for number, edit in enumerate(inside):
            if edit.start < at or edit.end > end:
                continue
            put(source.text[at : edit.start], at)
            inner = _inside(edit, inside, number + 1)
            for piece in edit.pieces:
                if isinstance(piece, str):
                    put(piece, None)
                else:
                    emit(*source.span(piece), inner)
            at = edit.end
        put(source.text[at:end], at)

    emit(0, len(source.text), ordered)
    return Edited(SourceText("".join(parts)), copies)


def _inside(edit: Edit, ordered: Sequence[Edit], first: int) -> list[Edit]:
    """Those behind it that lie within it; they are ordered by where they start."""
    found: list[Edit] = []
    for number in range(first, len(ordered)):
        other = ordered[number]
        if other.start > edit.end:
            break
        if other.end <= edit.end and (other.start, other.end) != (edit.start, edit.end):
            found.append(other)
    return found


def origins(old: SourceText, edited: Edited) -> Iterator[tuple[ast.AST, ast.AST]]:
    """(new node, old node) of all nodes that were copied."""
    known: dict[tuple[type, int, int], ast.AST] = {}
    for node in all_nodes(old.tree):
        if hasattr(node, "lineno"):
            known.setdefault((type(node), *old.span(node)), node)
    for node in all_nodes(edited.source.tree):
        if hasattr(node, "lineno"):
            span = edited.old_span(*edited.source.span(node))
            found = known.get((type(node), *span)) if span else None
            if found is not None:
                yield node, found
