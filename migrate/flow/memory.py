"""Memory that values may share: where it comes from, and how a value relates to it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Relation = Literal["same", "view", "maybe"]
Source = Literal["parameter", "fresh", "attribute", "global", "container", "unknown"]
_ORDER = {"same": 0, "view": 1, "maybe": 2}


@dataclass(slots=True, eq=False)
class Memory:
    """The storage of a tensor, or a Python container, by the place that made it."""

    source: Source
    name: str  # the parameter, the path of the attribute, the global
    node: ast.AST | None = None
    contents: set[Ref] = field(default_factory=set)  # of a container
    parent: Memory | None = None  # the object that holds an attribute
    outside: bool = False  # something that outlives the function holds it


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


def elements(refs: Refs) -> Refs:
    """What iterating or indexing gives: the contents of containers, views of tensors."""
    found: set[Ref] = set()
    for ref in refs:
        if ref.memory.source == "container":
            found |= {held.through(ref.relation) for held in ref.memory.contents}
        else:
            found.add(ref.through("view"))
            found |= ref.memory.contents
    return frozenset(found)


def union(parts: Iterable[Refs]) -> Refs:
    return NOTHING.union(*parts)


def worst(left: Relation, right: Relation) -> Relation:
    return max(left, right, key=_ORDER.__getitem__)
