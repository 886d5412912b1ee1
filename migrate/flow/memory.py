"""Memory that values may share: where it comes from, and how a value relates to it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field, replace
from typing import Literal

from migrate.flow.parts import MOST_PARTS, Parts

# "foreign": the result of a function that we do not know, which may hand its arguments on.
Relation = Literal["same", "view", "maybe", "foreign"]
Source = Literal["parameter", "fresh", "attribute", "global", "container", "unknown"]
UNKNOWN: ast.AST = ast.Pass()  # a layout that is not followed
_ORDER = {"same": 0, "view": 1, "maybe": 2, "foreign": 3}


@dataclass(slots=True, eq=False)
class Memory:
    """The storage of a tensor, or a Python container, by the place that made it."""

    source: Source
    name: str  # the parameter, the path of the attribute, the global
    node: ast.AST | None = None
    contents: set[Ref] = field(default_factory=set)  # of a container
    stored_by: dict[Ref, set[ast.AST]] = field(default_factory=dict)  # statements that put it there
    parent: Memory | None = None  # the object that holds an attribute
    outside: bool = False  # something that outlives the function holds it
    _older: Memory | None = None

    @property
    def older(self) -> Memory:
        """What the same expression made in earlier rounds of a loop."""
        if self._older is None:
            self._older = Memory(self.source, self.name, self.node, self.contents, self.stored_by)
            self._older._older = self._older
        return self._older

    def put(self, refs: Iterable[Ref], statement: ast.AST | None) -> None:
        for ref in refs:
            if ref.memory is not self:
                ref = ref.whole()
                always = ref in self.contents and ref not in self.stored_by
                self.contents.add(ref)
                if statement is not None and not always:
                    self.stored_by.setdefault(ref, set()).add(statement)


@dataclass(frozen=True, slots=True)
class Ref:
    """A value: the memory itself, a view of it, or something that may share it."""

    memory: Memory
    relation: Relation = "same"
    # The expression that laid its axes out; None for the memory's own, UNKNOWN after other steps.
    layout: ast.AST | None = None
    parts: Parts = ()
    overlaps: bool = False  # `x.expand(4, 3)`: its elements share memory among themselves

    def through(self, relation: Relation, layout: ast.AST | None = None) -> Ref:
        """The reference after one more step: a view of what may be the same may be a view."""
        worse = max(self.relation, relation, key=_ORDER.__getitem__)
        laid_out = self.layout if relation == "same" else layout or UNKNOWN
        return Ref(self.memory, worse, laid_out, self.parts, self.overlaps)

    def part(self, parts: Parts) -> Ref:
        """Some part of the elements alone."""
        if self.overlaps or not parts:
            return self
        return replace(self, parts=(*self.parts, *parts)[:MOST_PARTS])

    def whole(self) -> Ref:
        """The reference without what is known of its elements: true at any later time."""
        known = self.layout not in (None, UNKNOWN) or self.parts
        layout = UNKNOWN if self.layout is not None else None
        return Ref(self.memory, self.relation, layout, (), self.overlaps) if known else self

    def aged(self, is_stale: Callable[[ast.AST], bool], names: Set[str]) -> Ref:
        """The reference where other code lays axes out anew, or bounds have other values."""
        parts = tuple(
            part
            for part in self.parts
            if not (part.layout is not None and is_stale(part.layout)) and not part.names & names
        )
        known = self.layout is not None and self.layout is not UNKNOWN
        layout = UNKNOWN if known and self.layout and is_stale(self.layout) else self.layout
        if layout is self.layout and len(parts) == len(self.parts):
            return self
        return replace(self, layout=layout, parts=parts)


Refs = frozenset[Ref]
NOTHING: Refs = frozenset()


def through(refs: Refs, relation: Relation, layout: ast.AST | None = None) -> Refs:
    return frozenset(ref.through(relation, layout) for ref in refs)


def union(parts: Iterable[Refs]) -> Refs:
    return NOTHING.union(*parts)


def worst(left: Relation, right: Relation) -> Relation:
    return max(left, right, key=_ORDER.__getitem__)
