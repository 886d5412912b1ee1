"""Def-use chains and liveness of the names of one scope.

docs/decisions/def_use.md says why these are our own: they work on the ast nodes that the resolver
has typed, and only for the functions about which somebody asks.
"""

from __future__ import annotations

import ast
from functools import cached_property

from migrate.flow.cfg import ControlFlow, Point
from migrate.flow.events import Definition, Function, arguments_of, free_reads, reads_in
from migrate.syntax.ast_index import all_nodes

_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class DefUse:
    """Which definitions reach which reads."""

    def __init__(self, cfg: ControlFlow) -> None:
        self.cfg = cfg
        self._definitions: list[Definition] = []
        self._number: dict[Definition, int] = {}
        self._of_name: dict[str, int] = {}  # name -> bits of its definitions
        self._point_of: dict[ast.Name, Point] = {}
        self._collect()

    def _collect(self) -> None:
        scope = self.cfg.scope
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            self.cfg.points[0].definitions = [
                Definition(argument.arg, scope, argument, None, "parameter")
                for argument in arguments_of(scope)
            ]
        for point in self.cfg.points:
            for name in point.reads:
                self._point_of.setdefault(name, point)
            for definition in point.definitions:
                self._add(definition)

    def _add(self, definition: Definition) -> None:
        number = len(self._definitions)
        self._definitions.append(definition)
        self._number[definition] = number
        self._of_name[definition.name] = self._of_name.get(definition.name, 0) | 1 << number

    # Reaching definitions -----------------------------------------------------------------------

    @cached_property
    def _reaching(self) -> tuple[list[int], list[int]]:
        """The definitions, as bits, that reach each point and that leave it."""
        points = self.cfg.points
        gives, kills = [], []
        for point in points:
            gen = kill = 0
            for definition in point.definitions:
                own = self._of_name[definition.name]
                kill |= own
                gen = gen & ~own | 1 << self._number[definition]
            gives.append(gen)
            kills.append(kill)
        before, after = [0] * len(points), list(gives)
        pending = list(range(len(points)))
        waiting = set(pending)
        pending.reverse()
        while pending:
            index = pending.pop()
            waiting.discard(index)
            incoming = 0
            for previous in points[index].before:
                incoming |= after[previous]
            before[index] = incoming
            new = incoming & ~kills[index] | gives[index]
            if new != after[index]:
                after[index] = new
                for following in points[index].after - waiting:
                    waiting.add(following)
                    pending.append(following)
        return before, after

    def _chosen(self, bits: int, name: str) -> tuple[Definition, ...]:
        bits &= self._of_name.get(name, 0)
        found = []
        while bits:
            low = bits & -bits
            found.append(self._definitions[low.bit_length() - 1])
            bits ^= low
        return tuple(found)

    def reaching(self, name: ast.Name) -> tuple[Definition, ...]:
        """The definitions that a read may see; none for a name of an outer scope."""
        point = self._point_of.get(name)
        if point is None:
            statement = self.cfg.statement_of(name)
            if statement is None:
                return ()
            point = self.cfg.points_of(statement)[-1]
        return self._chosen(self._reaching[0][point.index], name.id)

    def reaching_at(
        self, statement: ast.AST, name: str, *, after: bool = False
    ) -> tuple[Definition, ...]:
        """The definitions of a name that hold in front of a statement, or behind it."""
        points = self.cfg.points_of(statement)
        if not points:
            return ()
        point = points[-1] if after else points[0]
        return self._chosen(self._reaching[1 if after else 0][point.index], name)

    def definitions(self, name: str) -> tuple[Definition, ...]:
        return self._chosen(-1, name)

    @cached_property
    def _uses(self) -> dict[Definition, list[ast.Name]]:
        found: dict[Definition, list[ast.Name]] = {}
        for name, point in self._point_of.items():
            for definition in self._chosen(self._reaching[0][point.index], name.id):
                found.setdefault(definition, []).append(name)
        return found

    def uses(self, definition: Definition) -> tuple[ast.Name, ...]:
        """The reads that a definition reaches."""
        return tuple(self._uses.get(definition, ()))

    def bound_before(self, statement: ast.AST) -> set[str]:
        """Names that some statement on a way to this one binds; parameters, imports and
        definitions left out.
        """
        points = self.cfg.points_of(statement)
        bits = self._reaching[0][points[0].index] if points else 0
        return {
            d.name
            for number, d in enumerate(self._definitions)
            if bits >> number & 1 and d.kind not in ("parameter", "import", "definition")
        }

    def maybe_unbound(self, name: ast.Name) -> bool:
        """Some way from the entry to this read does not bind the name."""
        point = self._point_of.get(name)
        return point is not None and self._is_unbound_at(name.id, point)

    def maybe_unbound_at(self, statement: ast.AST, name: str) -> bool:
        """Some way from the entry to the statement does not bind a name of this scope."""
        points = self.cfg.points_of(statement)
        return bool(points) and self._is_unbound_at(name, points[0])

    def _is_unbound_at(self, name: str, point: Point) -> bool:
        if name not in self._of_name:
            return False
        seen: set[int] = set()
        pending = [self.cfg.entry]
        while pending:
            index = pending.pop()
            if index == point.index:
                return True
            if index in seen:
                continue
            seen.add(index)
            if all(d.name != name for d in self.cfg.points[index].definitions):
                pending += self.cfg.points[index].after
        return False

    # Liveness -----------------------------------------------------------------------------------

    @cached_property
    def captured(self) -> frozenset[str]:
        """Names of this scope that inner functions read: they may run at any later time."""
        found: set[str] = set()
        for point in self.cfg.points[2:]:
            for node in all_nodes(point.statement):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                    found |= {name.id for name in free_reads(node)}
        return frozenset(found)

    @cached_property
    def _outer(self) -> frozenset[str]:
        """Names that outlive the scope: `global x`, and all of a class body."""
        found: set[str] = set()
        for point in self.cfg.points[2:]:
            if isinstance(point.statement, (ast.Global, ast.Nonlocal)):
                found |= set(point.statement.names)
        if isinstance(self.cfg.scope, ast.ClassDef):
            found |= set(self._of_name)
        return frozenset(found)

    @cached_property
    def _live(self) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
        points = self.cfg.points
        reads = [frozenset(name.id for name in point.reads) for point in points]
        binds = [
            frozenset(d.name for d in point.definitions if d.kind != "delete") for point in points
        ]
        empty: frozenset[str] = frozenset()
        before, after = [empty] * len(points), [empty] * len(points)
        before[self.cfg.exit] = self._outer
        pending = list(range(len(points)))
        waiting = set(pending)
        while pending:
            index = pending.pop()
            waiting.discard(index)
            if index == self.cfg.exit:
                continue
            out = empty.union(*(before[following] for following in points[index].after))
            after[index] = out
            new = (out - binds[index]) | reads[index]
            if new != before[index]:
                before[index] = new
                for previous in points[index].before - waiting:
                    waiting.add(previous)
                    pending.append(previous)
        for previous in points[self.cfg.exit].before:
            after[previous] |= self._outer
        return before, after

    def live_after(self, statement: ast.AST) -> frozenset[str]:
        """Names whose values are read later, before they are bound anew."""
        points = self.cfg.points_of(statement)
        if not points:
            return frozenset(self._of_name)
        return self._live[1][points[-1].index] | (self.captured & frozenset(self._of_name))

    def live_before(self, statement: ast.AST) -> frozenset[str]:
        points = self.cfg.points_of(statement)
        if not points:
            return frozenset(self._of_name)
        return self._live[0][points[0].index] | (self.captured & frozenset(self._of_name))

    def read_after(self, statement: ast.AST, name: str) -> bool:
        return name in self.live_after(statement)

    def next_reads(self, statement: ast.AST, name: str) -> list[ast.Name]:
        """The reads that see the value which the name has right behind the statement."""
        points = self.cfg.points_of(statement)
        if not points:
            return []
        found: list[ast.Name] = []
        seen: set[int] = set()
        pending = list(points[-1].after)
        while pending:
            index = pending.pop()
            if index in seen:
                continue
            seen.add(index)
            point = self.cfg.points[index]
            found += [read for read in point.reads if read.id == name]
            if all(d.name != name for d in point.definitions):
                pending += point.after
        return found


def own_names(function: Function) -> list[str]:
    """The parameters of a function, in order."""
    return [argument.arg for argument in arguments_of(function)]


def reads_of_expression(node: ast.AST) -> set[str]:
    return {name.id for name in reads_in(node)}
