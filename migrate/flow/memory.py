"""Memory that values may share: where it comes from, and how a value relates to it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

# "foreign": the result of a function that we do not know, which may hand its arguments on.
Relation = Literal["same", "view", "maybe", "foreign"]
Source = Literal["parameter", "fresh", "attribute", "global", "container", "unknown"]
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
                always = ref in self.contents and ref not in self.stored_by
                self.contents.add(ref)
                if statement is not None and not always:
                    self.stored_by.setdefault(ref, set()).add(statement)


@dataclass(frozen=True, slots=True)
class Ref:
    """A value: the memory itself, a view of it, or something that may share it."""

    memory: Memory
    relation: Relation = "same"

    def through(self, relation: Relation) -> Ref:
        """The reference after one more step: a view of what may be the same may be a view."""
        worse = max(self.relation, relation, key=_ORDER.__getitem__)
        return Ref(self.memory, worse)


Refs = frozenset[Ref]
NOTHING: Refs = frozenset()


def through(refs: Refs, relation: Relation) -> Refs:
    return frozenset(ref.through(relation) for ref in refs)


def union(parts: Iterable[Refs]) -> Refs:
    return NOTHING.union(*parts)


def worst(left: Relation, right: Relation) -> Relation:
    return max(left, right, key=_ORDER.__getitem__)
