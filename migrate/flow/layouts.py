"""How the memory of a result relates to that of its subject: the same, a view, some part, new."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from migrate.flow.devices import is_called_device
from migrate.flow.events import Definition, heads
from migrate.flow.memories import Memories
from migrate.flow.memory import UNKNOWN as UNKNOWN_LAYOUT
from migrate.flow.memory import Memory, Ref, Refs, Relation, through
from migrate.flow.parts import indexed, item
from migrate.flow.tables import (
    DIVIDING,
    MAYBE_SAME,
    MAYBE_VIEWS,
    NUMPY,
    OVERLAPPING,
    SAME,
    TUPLE_LAYERS,
    VIEWS,
    is_in_place,
)
from migrate.resolve.values import (
    UNKNOWN,
    Instance,
    Known,
    ListOf,
    TupleOf,
    Value,
    is_tensor,
    options_of,
)
from migrate.syntax.access import is_read
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow.cfg import Point

_PLAIN = frozenset({"builtins.int", "builtins.float", "builtins.number", "builtins.str"})
_PLAIN |= {"builtins.bool", "torch.dtype", "torch.device"}
# Functions whose several results are tensors of their own: `torch.max(x, 0)`, `torch.linalg.svd`.
_OPERATORS = ("torch.Tensor.", "torch.linalg.", "torch.nn.functional.")


class Layouts(Memories):
    """What one step makes of the memory that it is given."""

    def is_plain(self, node: ast.expr) -> bool:
        """A number, a text, a shape: nothing that could be changed in place."""
        kind = self._flow.symbols.type(node)
        return kind is not UNKNOWN and all(map(_is_plain_value, options_of(kind)))

    # Calls --------------------------------------------------------------------------------------

    def after_call(self, node: ast.Call, refs: Refs, relation: str) -> Refs:
        """The result of a call whose subject is `refs`."""
        if relation == "same":
            return refs
        if relation == "view":
            views = through(refs, "view", node)
            if called(node.func) in OVERLAPPING:
                return frozenset(replace(ref, overlaps=True) for ref in views)
            return views
        if relation == "maybe":
            return through(refs, "maybe", node) | self.fresh(node)
        return self.fresh(node)

    def relation_of(self, name: str, node: ast.Call) -> Relation | None:
        if is_in_place(name) or any(
            k.arg == "inplace" and isinstance(k.value, ast.Constant) and k.value.value is True
            for k in node.keywords
        ):
            return "same"
        if name in SAME:
            return "same"
        if name in VIEWS or name in NUMPY:
            return "view"
        if name in MAYBE_VIEWS:
            return "view"
        if name == "to" and self._is_device(node):
            return "same"
        return "maybe" if name in MAYBE_SAME else None

    def _is_device(self, node: ast.Call) -> bool:
        """`x.to("cuda")`, `x.to(device)`: a move, and no cast."""
        if len(node.args) != 1 or node.keywords:
            return False
        return is_called_device(node.args[0], self._flow.symbols.type(node.args[0]))

    # Indexes ------------------------------------------------------------------------------------

    def is_copying_index(self, index: ast.expr) -> bool | None:
        """An index of tensors, lists or masks copies; None where its type is not known."""
        if isinstance(index, ast.Tuple):
            answers = [self.is_copying_index(part) for part in index.elts]
            return True if True in answers else None if None in answers else False
        if isinstance(index, (ast.Slice, ast.Constant)):
            return isinstance(index, ast.Constant) and isinstance(index.value, bool)
        if isinstance(index, ast.UnaryOp) and isinstance(index.operand, ast.Constant):
            return False
        if isinstance(index, (ast.List, ast.Compare, ast.ListComp)):
            return True
        kind = self._flow.symbols.type(index)
        if is_tensor(kind) or isinstance(kind, (ListOf, TupleOf)):
            return True
        if kind is not UNKNOWN and all(map(_is_plain_value, options_of(kind))):
            return False
        return False if isinstance(index, (ast.BinOp, ast.JoinedStr)) else None

    def indexed(self, refs: Refs, node: ast.Subscript) -> Refs:
        """The part of a tensor that numbers and slices select."""
        found = set()
        for ref in refs:
            known = ref.layout is not UNKNOWN_LAYOUT
            parts = indexed(ref.layout, node.slice, self.fixed_attributes) if known else ()
            found.add(ref.part(parts).through("view", node))
        return frozenset(found)

    @cached_property
    def fixed_attributes(self) -> frozenset[str]:
        """Attributes of self, `self.n`, that this function reads and does not set."""
        named = [
            node
            for point in self._flow.cfg.points[2:]
            for head in heads(point.statement)
            for node in all_nodes(head)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"
        ]
        stored = {node.attr for node in named if not is_read(node)}
        return frozenset(ast.unparse(node) for node in named if node.attr not in stored)

    # Items --------------------------------------------------------------------------------------

    def unpacked_items(self, refs: Refs, value: ast.expr, definition: Definition) -> Refs:
        """What one target of `a, (b, c) = value` gets: no two of them the same elements, where the
        value is a tensor, is divided by torch, or comes from a function that makes all of them.
        """
        items = self.elements(refs, value)
        path = path_of(definition)
        if path is None or any(ref.memory.source == "container" for ref in refs):
            return items
        divided = {ref.memory: ref.layout for ref in refs if self._is_divided(ref, value)}
        return frozenset(
            ref.part(item(divided[ref.memory], path)).through("view", definition.node)
            if ref.memory in divided
            else ref
            for ref in items
        )

    def listed_item(self, refs: Refs, node: ast.Subscript) -> Refs:
        """`parts[0]` of `parts = x.chunk(3)`."""
        items = self.elements(refs, node.value, ast.unparse(node.slice))
        place = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if not isinstance(place, int) or isinstance(place, bool):
            return items
        divided = {ref.memory: ref.layout for ref in refs if self._is_divided(ref, node.value)}
        return frozenset(
            ref.part(item(divided[ref.memory], (place,))).through("view", node)
            if ref.memory in divided
            else ref
            for ref in items
        )

    def _is_divided(self, ref: Ref, value: ast.expr) -> bool:
        if ref.layout is UNKNOWN_LAYOUT or ref.memory.source == "container":
            return False
        if is_tensor(self._flow.symbols.type(value)):
            return True
        if isinstance(ref.layout, ast.Call):
            return called(ref.layout.func) in DIVIDING
        made = ref.memory.node if ref.memory.source == "fresh" else None
        return ref.layout is None and isinstance(made, ast.Call) and self._makes_all(made)

    def _makes_all(self, call: ast.Call) -> bool:
        """The call gives several new tensors, which share no memory among themselves."""
        symbols = self._flow.symbols
        if symbols.targets(call):
            return self._flow.effects.of_call(call).returns_apart
        api = symbols.api(call.func)
        if api.startswith(_OPERATORS) or (api.count(".") == 1 and api.startswith("torch.")):
            return api.rpartition(".")[2] not in ("meshgrid", "broadcast_tensors")
        kinds = options_of(symbols.type(call.func))
        return all(isinstance(k, Instance) and k.cls in TUPLE_LAYERS for k in kinds)

    # Time ---------------------------------------------------------------------------------------

    def age(self, state: dict[str, Refs], point: Point) -> None:
        """Forget in `state` what the point lays out anew and what depends on names that it binds;
        what it made in earlier rounds of a loop is older.
        """
        made = self.made_in(point.statement)
        bound = {definition.name for definition in point.definitions}

        def is_stale(layout: ast.AST) -> bool:
            return self._flow.cfg.statement_of(layout) is point.statement

        for name, refs in state.items():
            if any(r.parts or r.layout is not None or r.memory in made for r in refs):
                state[name] = frozenset(_older(r, made).aged(is_stale, bound) for r in refs)


def _older(ref: Ref, made: set[Memory]) -> Ref:
    return replace(ref, memory=ref.memory.older) if ref.memory in made else ref


def path_of(definition: Definition) -> tuple[int, ...] | None:
    """Where the name stands among the targets; None behind a star."""
    statement = definition.statement
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return next((p for p in (_place(t, definition.node) for t in targets) if p), None)


def _place(target: ast.expr, node: ast.AST) -> tuple[int, ...] | None:
    if target is node:
        return ()
    if not isinstance(target, (ast.Tuple, ast.List)):
        return None
    for index, part in enumerate(target.elts):
        if isinstance(part, ast.Starred):
            return None
        below = _place(part, node)
        if below is not None:
            return (index, *below)
    return None


def _is_plain_value(value: Value) -> bool:
    if isinstance(value, Known):
        return True
    if isinstance(value, ListOf):
        return value.kind == "Size"
    return isinstance(value, Instance) and isinstance(value.cls, str) and value.cls in _PLAIN


def called(function: ast.expr) -> str:
    """The last name of what is called."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
