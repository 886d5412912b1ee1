"""A walk over a libcst tree that makes new nodes only where something changed.

libcst's own visit builds every node anew, whitespace included, whatever its transformer does. This
one calls the same methods of the same transformers in the same order, goes by the whitespace, and
hands back the very node that it was given wherever nothing below it changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import libcst as cst

from migrate.syntax.children import CHILDREN

Node = TypeVar("Node", bound=cst.CSTNode)
Enter = Callable[[Any], bool | None]
Leave = Callable[[Any, Any], Any]
# What to do with a kind of node, from its class.
Handlers = Callable[[type[cst.CSTNode]], tuple[Enter | None, Leave | None]]
# What to do on entering and on leaving, the fields to go into, and how to read them.
Plan = tuple[Enter | None, Leave | None, tuple[str, ...], Callable[[Any], Any]]

_BODIES = (cst.Module, cst.IndentedBlock)  # their statements go when they lost everything
_GONE = (cst.RemovalSentinel, cst.FlattenSentinel)
_SEQUENCES = (tuple, list)


def transform_lazily(node: Node, transformer: cst.CSTTransformer) -> Node:
    """The node as the transformer changes it."""
    return walk_lazily(node, _Methods(transformer).of, transformer)


def walk_lazily(node: Node, handlers: Handlers, unknown: cst.CSTTransformer) -> Node:
    """The node as the handlers of each kind change it; `unknown` visits kinds of later libcsts."""
    new = _Walk(handlers, unknown).node(node)
    if isinstance(new, _GONE):
        raise TypeError(f"a {type(node).__name__} that nothing holds cannot go away")
    return new  # type: ignore[no-any-return]


class _Methods:
    """The handlers that a transformer has as methods."""

    def __init__(self, transformer: cst.CSTTransformer) -> None:
        self._transformer = transformer

    def of(self, kind: type[cst.CSTNode]) -> tuple[Enter | None, Leave | None]:
        return self._method(f"visit_{kind.__name__}"), self._method(f"leave_{kind.__name__}")

    def _method(self, name: str) -> Any:
        """A method that the transformer has written itself; libcst's own do nothing."""
        own = getattr(type(self._transformer), name, None)
        if own is None or own is getattr(cst.CSTTransformer, name, None):
            return None
        return getattr(self._transformer, name)


class _Walk:
    def __init__(self, handlers: Handlers, unknown: cst.CSTTransformer) -> None:
        self._handlers = handlers
        self._unknown = unknown
        self._plans: dict[type, Plan | None] = {}

    def node(self, node: Any) -> Any:
        """What becomes of a node: another one, a sentinel, or itself."""
        try:
            plan = self._plans[node.__class__]
        except KeyError:
            plan = self._plans[node.__class__] = self._plan(node.__class__)
        if plan is None:
            return node.visit(self._unknown)
        enter, leave, names, read = plan
        if enter is not None and enter(node) is False:
            return node if leave is None else leave(node, node)
        if not names:
            return node if leave is None else leave(node, node)
        changes: dict[str, Any] | None = None
        values = read(node) if len(names) > 1 else (read(node),)
        for index, old in enumerate(values):
            if old is None or old is cst.MaybeSentinel.DEFAULT:
                continue
            if old.__class__ in _SEQUENCES:
                new = self._sequence(node, old)
            else:
                new = self.node(old)
                if new.__class__ in _GONE:
                    new = self._without(node, names[index], new)
            if new is not old:
                if changes is None:
                    changes = {}
                changes[names[index]] = new
        updated = node if changes is None else node.with_changes(**changes)
        return updated if leave is None else leave(node, updated)

    def _sequence(self, parent: cst.CSTNode, children: Sequence[Any]) -> Sequence[Any]:
        new: list[Any] = []
        changed = False
        for child in children:
            result = self.node(child)
            if result is child:
                new.append(child)
                continue
            changed = True
            if result.__class__ is cst.RemovalSentinel:
                continue
            parts = list(result) if result.__class__ is cst.FlattenSentinel else [result]
            if parent.__class__ in _BODIES and not child._is_removable():
                parts = [part for part in parts if not part._is_removable()]
            new += parts
        return tuple(new) if changed else children

    def _without(self, parent: cst.CSTNode, name: str, result: Any) -> Any:
        """What stands for a single child that was taken away."""
        if isinstance(result, cst.RemovalSentinel):
            default = parent.__dataclass_fields__[name].default
            if default is None or default is cst.MaybeSentinel.DEFAULT:
                return default
        raise TypeError(f"the {name} of a {type(parent).__name__} must be one node")

    def _plan(self, kind: type[cst.CSTNode]) -> Plan | None:
        """None for a kind of node that only libcst knows."""
        names = CHILDREN.get(kind)
        if names is None:
            return None
        enter, leave = self._handlers(kind)
        return enter, leave, names, attrgetter(*names) if names else attrgetter("__class__")
