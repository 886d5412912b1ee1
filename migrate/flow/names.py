"""Which names a piece of code reads, binds and changes.

`losses.append(v)` changes losses, `collect(losses, v)` does so where that function appends, and
`rows.append(v)` does where rows and losses are one list.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from migrate.flow.blocks import own_nodes
from migrate.flow.events import all_bound, reads_in
from migrate.flow.mutations import fills, mutations
from migrate.syntax.ast_index import all_nodes, remembered

if TYPE_CHECKING:
    from migrate.flow.function import FunctionFlow


def reads(node: ast.AST) -> set[str]:
    """Names that evaluating a piece of code looks up around it."""
    return set(remembered(node, _reads))


def _reads(node: ast.AST) -> set[str]:
    return {name.id for name in reads_in(node)}


def binds(node: ast.AST) -> set[str]:
    """Names that get a value."""
    return all_bound(node)


class NameEffects:
    """What the statements of one function change besides binding names."""

    def __init__(self, flow: FunctionFlow) -> None:
        self._flow = flow
        self._passed: set[ast.AST] = set()  # statements in which a function fills a container

    def mutates(self, node: ast.AST) -> set[str]:
        """Names whose values are changed in place: tensors, containers, objects."""
        return self.writes(node) | self._found(node, self._filled)

    def fills_elsewhere(self, node: ast.AST) -> set[str]:
        """Names of containers that get items under another name, or in a function that they are
        passed to.
        """
        found: set[str] = set()
        for inner in all_nodes(node):
            names = self._filled.get(inner, set())
            if len(names) > 1 or inner in self._passed:
                found |= names
        return found

    def writes(self, node: ast.AST) -> set[str]:
        """Names of tensors and containers that get other elements: `x[i] = v`, `x.fill_(0)`."""
        return self._found(node, self._written)

    def changes(self, node: ast.AST) -> set[str]:
        """Names that have another value afterwards, or whose value is changed."""
        return binds(node) | self.mutates(node)

    def _found(self, node: ast.AST, table: dict[ast.AST, set[str]]) -> set[str]:
        if not table:
            return set()
        return {name for inner in all_nodes(node) for name in table.get(inner, ())}

    @cached_property
    def _written(self) -> dict[ast.AST, set[str]]:
        found: dict[ast.AST, set[str]] = {}
        for mutation in mutations(self._flow):
            names = self._names(mutation.place, mutation.statement)
            found.setdefault(mutation.statement, set()).update(names)
        return found

    @cached_property
    def _filled(self) -> dict[ast.AST, set[str]]:
        found: dict[ast.AST, set[str]] = {}
        for fill in fills(self._flow):
            found.setdefault(fill.statement, set()).update(self._names(fill.place, fill.statement))
            if fill.passed:
                self._passed.add(fill.statement)
        for point in self._flow.cfg.points[2:]:
            for node in own_nodes(point.statement):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    found.setdefault(point.statement, set()).update(_root(node))
        return found

    def _names(self, place: ast.expr, statement: ast.AST) -> set[str]:
        """The names through which the changed value is seen."""
        found = _root(place)
        if not found:
            return found
        for observer in self._flow.aliases.observers(place):
            if observer.kind in ("name", "container") and observer.relation != "foreign":
                found.add(observer.name)
        return found - {"self"}


def _root(node: ast.expr) -> set[str]:
    """`x` of `x.a[0].b()`; members of self are followed as members."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) and node.id != "self" else set()
