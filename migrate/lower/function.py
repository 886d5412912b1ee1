"""One compiled function on its way through the lowering passes: its nodes, their types, edits."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from migrate.flow.answer import Verdict
from migrate.resolve.values import UNKNOWN, Value
from migrate.syntax.ast_index import all_nodes, child_nodes
from migrate.syntax.edits import Edit, Piece, SourceText

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
STEP = "    "
Node = TypeVar("Node", bound=ast.AST)
Line = Sequence[Piece] | str


@dataclass
class CompiledFunction:
    """A function or method that Graph mode compiles, or may; inner functions belong to it."""

    source: SourceText
    node: ast.FunctionDef | ast.AsyncFunctionDef
    qualified: str
    owner: ast.ClassDef | None
    verdict: Verdict
    types: Mapping[ast.AST, Value]
    edits: list[Edit] = field(default_factory=list)

    def value_of(self, node: ast.AST) -> Value:
        return self.types.get(node, UNKNOWN)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the body, in source order."""
        return [node for statement in self.node.body for node in walk_in_order(statement)]

    @cached_property
    def by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        """The same nodes, those of a kind together."""
        found: dict[type[ast.AST], list[ast.AST]] = {}
        for node in self.nodes:
            kind = node.__class__
            if kind in found:
                found[kind].append(node)
            else:
                found[kind] = [node]
        return found

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in all_nodes(self.node) for child in child_nodes(node)}

    def of_kind(self, *kinds: type[Node]) -> Iterator[Node]:
        if not any(kind in self.by_kind for kind in kinds):
            return iter(())
        if len(kinds) == 1:
            return iter(self.by_kind[kinds[0]])  # type: ignore[arg-type]
        return (node for node in self.nodes if isinstance(node, kinds))

    def scope_of(self, node: ast.AST) -> ast.AST:
        """The innermost function, lambda or class around a node."""
        while node is not self.node:
            node = self.parents[node]
            if isinstance(node, SCOPES):
                return node
        return node

    def statement_of(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def block_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The block that the statement stands in."""
        parent = self.parents[statement]
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    def fresh(self, wish: str) -> str:
        """A name that the file does not use."""
        return _unused(wish, self.source.names)

    # Edits --------------------------------------------------------------------------------------

    def replace(self, node: ast.AST, *pieces: Piece) -> None:
        """An expression gives way to the pieces."""
        self.edits.append(self.source.replace(node, *pieces))

    def replace_statement(self, statement: ast.stmt, *lines: Line) -> None:
        """A statement gives way to lines, each a text or pieces; a tab steps in.

        A statement that shares its line gets a line of its own first; the pass runs again then.
        """
        if not self.source.stands_alone(statement):
            self.edits += list(self.own_lines(statement))
            return
        indent = self.source.indent_of(statement)
        pieces: list[Piece] = []
        for number, line in enumerate(lines):
            if number:
                pieces.append(f"\n{indent}")
            parts = [line] if isinstance(line, str) else list(line)
            pieces += [p.replace("\t", STEP) if isinstance(p, str) else p for p in parts]
        self.edits.append(self.source.replace(statement, *pieces))

    def remove_statement(self, statement: ast.stmt) -> None:
        if len(self.block_of(statement)) == 1:
            self.replace_statement(statement, "pass")
        elif not self.source.stands_alone(statement):
            self.edits += list(self.own_lines(statement))
        else:
            start, end = self.source.span(statement)
            first = self.source.text.rfind("\n", 0, start) + 1
            last = (self.source.text + "\n").index("\n", end) + 1
            self.edits.append(Edit(first, last, ()))

    def indented(self, statements: Sequence[ast.stmt], steps: int = 1) -> list[Edit]:
        """Whole statements, so many steps further in; what is known of their parts stays known."""
        strings = {
            line
            for statement in statements
            for node in all_nodes(statement)
            if isinstance(node, (ast.Constant, ast.JoinedStr))
            for line in range(node.lineno + 1, (node.end_lineno or 0) + 1)
        }
        first, last = statements[0].lineno, statements[-1].end_lineno or 0
        first = min([first, *(d.lineno for d in getattr(statements[0], "decorator_list", ()))])
        while first > 1 and self.source.lines[first - 2].lstrip().startswith("#"):
            first -= 1  # what is said of the first statement
        return [
            Edit(start, start, (STEP * steps,))
            for line in range(first, last + 1)
            if line not in strings and self.source.lines[line - 1].strip()
            for start in [self.source.offset(line, 0)]
        ]

    def own_lines(self, statement: ast.stmt) -> Iterator[Edit]:
        """Line breaks around the statements of a block that share a line."""
        block = self.block_of(statement)
        parent = self.parents[statement]
        indent = self.source.indent_of(block[0])
        start = self.source.span(block[0])[0]
        if isinstance(parent, ast.stmt) and not self.begins_line(block[0]):
            indent = self.source.indent_of(parent) + STEP
            colon = self.source.text.rindex(":", 0, start) + 1
            yield Edit(colon, start, (f"\n{indent}",))
        for left, right in pairwise(block):
            end, begin = self.source.span(left)[1], self.source.span(right)[0]
            if "\n" not in self.source.text[end:begin]:
                yield Edit(end, begin, (f"\n{indent}",))

    def begins_line(self, statement: ast.stmt) -> bool:
        start = self.source.span(statement)[0]
        return not self.source.text[self.source.text.rfind("\n", 0, start) + 1 : start].strip()


def walk_in_order(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it, as they stand in the source."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack += list(child_nodes(node))[::-1]


def _unused(wish: str, taken: set[str]) -> str:
    name, number = wish, 1
    while name in taken:
        number += 1
        name = f"{wish}_{number}"
    taken.add(name)
    return name
