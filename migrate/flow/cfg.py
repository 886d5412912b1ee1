"""The control flow of one function, statement by statement, on its own ast nodes.

A node of the graph is a simple statement, or the head of a compound one: the test of an if or a
while, the items of a with. A for has two: the evaluation of its iterable, and the binding of its
target in each round.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from migrate.flow.events import Definition, Scope, definitions_of, heads, reads_in, reads_of
from migrate.syntax.ast_index import all_nodes


@dataclass(slots=True, eq=False)
class Point:
    """One step of the program."""

    index: int
    statement: ast.AST
    reads: list[ast.Name] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    after: set[int] = field(default_factory=set)
    before: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Loop:
    head: int
    statement: ast.AST
    breaks: list[int] = field(default_factory=list)


class ControlFlow:
    """The graph of one scope. Points 0 and 1 are entry and exit."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.points: list[Point] = []
        self._at: dict[ast.AST, int] = {}
        self._points_of: dict[ast.AST, list[Point]] = {}
        self._parents: dict[ast.AST, ast.AST] | None = None
        self._reached: dict[int, set[int]] = {}
        self._loops: list[_Loop] = []
        self._loops_of: dict[ast.AST, tuple[ast.AST, ...]] = {}
        self._handlers: list[list[int]] = []
        self._final: list[list[ast.stmt]] = []
        self._dominators: list[int] | None = None
        self.entry = self._point(scope)
        self.exit = self._point(scope)
        body: list[ast.stmt] = getattr(scope, "body", [])
        if isinstance(scope, ast.Lambda):
            body = [ast.copy_location(ast.Return(scope.body), scope.body)]
        for end in self._block(body, [self.entry]):
            self._edge(end, self.exit)

    # Building -----------------------------------------------------------------------------------

    def _point(self, statement: ast.AST) -> int:
        point = Point(len(self.points), statement)
        self.points.append(point)
        if point.index > 1:
            self._points_of.setdefault(statement, []).append(point)
        return point.index

    def _step(self, statement: ast.AST, ends: Iterable[int]) -> int:
        """A point for the statement, reached from the given ones."""
        index = self._point(statement)
        point = self.points[index]
        point.reads = reads_of(statement)
        point.definitions = definitions_of(statement)
        self._at.setdefault(statement, index)
        self._loops_of.setdefault(statement, tuple(loop.statement for loop in self._loops))
        for end in ends:
            self._edge(end, index)
        for handlers in self._handlers[-1:]:
            for handler in handlers:  # it may raise before or after it took effect
                self._edge(index, handler)
                for end in ends:
                    self._edge(end, handler)
        return index

    def _edge(self, start: int, end: int) -> None:
        self.points[start].after.add(end)
        self.points[end].before.add(start)

    def _block(self, body: list[ast.stmt], ends: list[int]) -> list[int]:
        for statement in body:
            ends = self._statement(statement, ends)
        return ends

    def _statement(self, node: ast.stmt, ends: list[int]) -> list[int]:
        if isinstance(node, ast.If):
            head = [self._step(node, ends)]
            return [*self._block(node.body, head), *self._block(node.orelse, head)]
        if isinstance(node, (ast.For, ast.AsyncFor)):
            return self._for(node, ends)
        if isinstance(node, ast.While):
            return self._while(node, ends)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return self._block(node.body, [self._step(node, ends)])
        if isinstance(node, (ast.Try, ast.TryStar)):
            return self._try(node, ends)
        if isinstance(node, ast.Match):
            return self._match(node, ends)
        here = self._step(node, ends)
        return self._jump(node, here)

    def _jump(self, node: ast.stmt, here: int) -> list[int]:
        """Where a simple statement leads, when not to the next one."""
        if isinstance(node, (ast.Return, ast.Raise)):
            ends = [here]
            for final in reversed(self._final):
                ends = self._apart(final, ends)
            if isinstance(node, ast.Raise) and self._handlers and self._handlers[-1]:
                return []
            for end in ends:
                self._edge(end, self.exit)
            return []
        if isinstance(node, ast.Break) and self._loops:
            self._loops[-1].breaks.append(here)
            return []
        if isinstance(node, ast.Continue) and self._loops:
            self._edge(here, self._loops[-1].head)
            return []
        return [here]

    def _apart(self, final: list[ast.stmt], ends: list[int]) -> list[int]:
        """A finally block on the way out of the function."""
        held, self._final = self._final, []
        try:
            return self._block(final, ends)
        finally:
            self._final = held

    def _for(self, node: ast.For | ast.AsyncFor, ends: list[int]) -> list[int]:
        first = self._step(node, ends)
        self.points[first].definitions = []
        self.points[first].reads = [n for head in heads(node) for n in reads_in(head)]
        binding = self._point(node)
        self.points[binding].definitions = definitions_of(node)
        self._edge(first, binding)
        loop = _Loop(binding, node)
        self._loops.append(loop)
        for end in self._block(node.body, [binding]):
            self._edge(end, binding)
        self._loops.pop()
        # The iterable may be empty: then nothing was bound.
        rest = self._block(node.orelse, [first, binding])
        return [*rest, *loop.breaks]

    def _while(self, node: ast.While, ends: list[int]) -> list[int]:
        head = self._step(node, ends)
        loop = _Loop(head, node)
        self._loops.append(loop)
        for end in self._block(node.body, [head]):
            self._edge(end, head)
        self._loops.pop()
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        rest = [] if endless else self._block(node.orelse, [head])
        return [*rest, *loop.breaks]

    def _try(self, node: ast.Try | ast.TryStar, ends: list[int]) -> list[int]:
        head = self._step(node, ends)
        handlers = [self._handler(handler) for handler in node.handlers]
        self._handlers.append(handlers)
        if node.finalbody:
            self._final.append(node.finalbody)
        done = self._block(node.body, [head])
        self._handlers.pop()
        done = self._block(node.orelse, done)
        for index, handler in zip(handlers, node.handlers, strict=True):
            self._edge(head, index)
            done = [*done, *self._block(handler.body, [index])]
        if node.finalbody:
            self._final.pop()
            done = self._block(node.finalbody, done or [head])
        return done

    def _handler(self, handler: ast.ExceptHandler) -> int:
        index = self._point(handler)
        self.points[index].reads = reads_of(handler)
        self.points[index].definitions = definitions_of(handler)
        self._at[handler] = index
        return index

    def _match(self, node: ast.Match, ends: list[int]) -> list[int]:
        head = self._step(node, ends)
        done: list[int] = []
        before = [head]
        for case in node.cases:
            test = self._step(case, before)
            done += self._block(case.body, [test])
            before = [test]
        return [*done, *before]

    # Questions ----------------------------------------------------------------------------------

    def point(self, statement: ast.AST) -> Point:
        """The first point of a statement; KeyError for one of another scope."""
        return self.points[self._at[statement]]

    def points_of(self, statement: ast.AST) -> list[Point]:
        """Both points of a for, the one point of others."""
        return self._points_of.get(statement, [])

    def has(self, statement: ast.AST) -> bool:
        return statement in self._at

    def statement_of(self, node: ast.AST) -> ast.AST | None:
        """The statement of this scope whose own expressions hold the node."""
        if self._parents is None:
            self._parents = _owners(self.points)
        return self._parents.get(node)

    def may_follow(
        self, first: ast.AST, second: ast.AST, *, without: Iterable[ast.AST] = ()
    ) -> bool:
        """Some run executes `second` after `first`, and not `without` in between; a statement in a
        loop follows itself.
        """
        start, end = self._at.get(first), self._at.get(second)
        if start is None or end is None:
            return True
        barrier = {point.index for statement in without for point in self.points_of(statement)}
        if not barrier:
            return end in self.reached(start)
        seen: set[int] = set()
        pending = list(self.points[start].after)
        while pending:
            index = pending.pop()
            if index == end:
                return True
            if index not in seen and index not in barrier:
                seen.add(index)
                pending += self.points[index].after
        return False

    def loops_of(self, statement: ast.AST) -> tuple[ast.AST, ...]:
        """The loops around a statement, the outermost first."""
        return self._loops_of.get(statement, ())

    def follows(self, first: ast.AST, second: ast.AST) -> bool:
        """`second` comes after `first` in one round of the loops around both."""
        if first not in self._at or second not in self._at or first is second:
            return False
        if second in self.loops_of(first):
            return False  # it is the loop around
        shared = set(self.loops_of(first)) & set(self.loops_of(second))
        return self.may_follow(first, second, without=shared)

    def avoids(self, barriers: Iterable[ast.AST], target: ast.AST) -> bool:
        """Some way from the entry to the target goes past none of the barriers."""
        closed = {point.index for barrier in barriers for point in self.points_of(barrier)}
        wanted = {point.index for point in self.points_of(target)}
        pending, seen = [self.entry], set[int]()
        while pending:
            index = pending.pop()
            if index in wanted:
                return True
            if index not in seen and index not in closed:
                seen.add(index)
                pending += self.points[index].after
        return not wanted

    def reached(self, start: int) -> set[int]:
        """The points that can come after a point."""
        found = self._reached.get(start)
        if found is None:
            found = set()
            pending = list(self.points[start].after)
            while pending:
                index = pending.pop()
                if index not in found:
                    found.add(index)
                    pending += self.points[index].after
            self._reached[start] = found
        return found

    def in_loop(self, statement: ast.AST) -> bool:
        return self.may_follow(statement, statement)

    def exclusive(self, first: ast.AST, second: ast.AST) -> bool:
        """Neither comes after the other: the branches of one if."""
        return not self.may_follow(first, second) and not self.may_follow(second, first)

    def dominates(self, first: ast.AST, second: ast.AST) -> bool:
        """Every way to `second` goes through `first`."""
        start, end = self._at.get(first), self._at.get(second)
        if start is None or end is None:
            return False
        return bool(self._dominator_sets()[end] >> start & 1)

    def _dominator_sets(self) -> list[int]:
        if self._dominators is None:
            everything = (1 << len(self.points)) - 1
            sets = [everything] * len(self.points)
            sets[self.entry] = 1 << self.entry
            changed = True
            while changed:
                changed = False
                for point in self.points:
                    if point.index == self.entry:
                        continue
                    new = everything
                    for index in point.before:
                        new &= sets[index]
                    new |= 1 << point.index
                    if new != sets[point.index]:
                        sets[point.index] = new
                        changed = True
            self._dominators = sets
        return self._dominators


def _owners(points: list[Point]) -> dict[ast.AST, ast.AST]:
    """Every node that a statement evaluates itself, with the statement."""
    found: dict[ast.AST, ast.AST] = {}
    for point in points[2:]:
        statement = point.statement
        parts: list[ast.AST] = [*heads(statement)]
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            parts.append(statement.target)
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            parts += [i.optional_vars for i in statement.items if i.optional_vars is not None]
        for part in parts:
            for node in all_nodes(part):
                found.setdefault(node, statement)
        found[statement] = statement
    return found
