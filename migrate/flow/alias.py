"""May two expressions be the same tensor? Who else sees a tensor that changes in place?

The state of a program point says which memory each name may refer to; containers and attributes
collect what is ever put into them. A flow-sensitive analysis of one function, made when the first
question about it is asked.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from migrate.flow.answer import Answer, Verdict, no, unknown, yes
from migrate.flow.events import Definition, definitions_of
from migrate.flow.memory import NOTHING, Memory, Ref, Refs, Relation, worst
from migrate.flow.overwrites import Overwrites
from migrate.flow.parts import are_apart
from migrate.flow.values import Evaluator
from migrate.resolve.values import UNKNOWN, is_tensor

if TYPE_CHECKING:
    from migrate.flow.cfg import Point
    from migrate.flow.function import FunctionFlow

State = dict[str, Refs]
_ROUNDS = 12  # visits of one point until its state is taken as it is


@dataclass(frozen=True, slots=True)
class Observer:
    """Someone who could see a change: a name, a container, an attribute, the caller."""

    kind: Literal["name", "container", "attribute", "caller", "global"]
    name: str
    relation: Relation

    @property
    def answer(self) -> Answer:
        return Answer.YES if self.relation in ("same", "view") else Answer.UNKNOWN

    def __str__(self) -> str:
        what = {
            "name": f"{self.name}",
            "container": f"what {self.name} holds",
            "attribute": f"{self.name}",
            "caller": f"whoever passed {self.name}",
            "global": f"the global {self.name}",
        }[self.kind]
        return what if self.relation == "same" else f"{what} ({_WORDS[self.relation]})"


_WORDS = {
    "view": "a view of the same memory",
    "maybe": "which may share its memory",
    "foreign": "which may share its memory",
}


class Aliases:
    """The memory of the names of one function, at each of its points."""

    def __init__(self, flow: FunctionFlow) -> None:
        self._flow = flow
        self._evaluator = Evaluator(flow)
        self._overwrites = Overwrites(flow)

    @cached_property
    def _states(self) -> tuple[list[State], list[State]]:
        """In front of each point, and behind it."""
        points = self._flow.cfg.points
        before: list[State] = [{} for _ in points]
        after: list[State] = [{} for _ in points]
        visits = [0] * len(points)
        pending = [0]
        while pending:
            index = pending.pop(0)
            point = points[index]
            incoming: State = {}
            for previous in point.before:
                for name, refs in after[previous].items():
                    old = incoming.get(name)
                    incoming[name] = refs if old is None or old is refs else old | refs
            before[index] = incoming
            new = self._transfer(point, incoming)
            visits[index] += 1
            if (new != after[index] or visits[index] == 1) and visits[index] <= _ROUNDS:
                after[index] = new
                pending += [p for p in sorted(point.after) if p not in pending]
        return before, after

    def _transfer(self, point: Point, state: State) -> State:
        if not point.definitions and not _may_store(point.statement):
            return state
        state = dict(state)
        if point.index > 1:
            self._evaluator.age(state, point)
        new = dict(state)
        self._evaluator.state = state
        if point.index > 1:
            self._evaluator.effects_of(point.statement)
        for definition in point.definitions:
            new[definition.name] = self._value_of(definition, state)
        return new

    def _value_of(self, definition: Definition, state: State) -> Refs:
        statement = definition.statement
        if definition.kind == "parameter":
            return self._evaluator.parameter(definition)
        if definition.kind == "augmented":
            return state.get(definition.name, NOTHING)  # torch changes the tensor itself
        if definition.value is not None:
            return self._evaluator.value(definition.value)
        if isinstance(statement, ast.Assign):
            return self._evaluator.unpacked(statement.value, definition)
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            return self._evaluator.iterated(statement.iter, definition)
        return NOTHING

    # Questions ----------------------------------------------------------------------------------

    def refs(self, node: ast.expr, *, after: bool = False) -> Refs:
        """The memory that an expression may refer to, where it stands."""
        statement = self._flow.cfg.statement_of(node)
        if statement is None:
            return NOTHING
        points = self._flow.cfg.points_of(statement)
        self._evaluator.state = self._states[after][points[-1 if after else 0].index]
        target = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
        if target and isinstance(statement, (ast.For, ast.AsyncFor)):
            self._evaluator.state = self._states[1][points[-1].index]
        return self._evaluator.value(node)

    def may_alias(self, left: ast.expr, right: ast.expr) -> Verdict:
        """Do two expressions share memory, each where it stands?"""
        found = _shared(self.refs(left), self.refs(right), foreign=True)
        if found is None:
            return no()
        if found in ("maybe", "foreign"):
            return unknown(f"{ast.unparse(left)} may share its memory with {ast.unparse(right)}")
        return yes(found)

    def observers(self, place: ast.expr) -> list[Observer]:
        """Who else could see a write to `place`, and reads it later."""
        statement = self._flow.cfg.statement_of(place)
        if statement is None:
            return []
        written = self._written_part(place)
        if not written:
            return []
        points = self._flow.cfg.points_of(statement)
        state = self._states[1][points[-1].index]
        bound = {d.name for d in definitions_of(statement)}  # they get what the statement gives
        found: dict[tuple[str, str], Observer] = {}
        root = _root_name(place)
        held = isinstance(place, ast.Attribute)
        live = self._flow.defuse.live_after(statement)
        for name, refs in state.items():
            if name not in live or name in bound or (name == root and not held):
                continue
            relation = _shared(written, refs)
            if relation is not None and self._overwrites.is_read_before(statement, name):
                found["name", name] = Observer("name", name, relation)
            inside = self._inside(written, refs, statement)
            if inside is not None and not (held and name == root):
                found["container", name] = Observer("container", name, inside)
        for observer in self._outside(written, place):
            found.setdefault((observer.kind, observer.name), observer)
        return list(found.values())

    def _written_part(self, place: ast.expr) -> Refs:
        """The memory that a write to the place changes: of `x[:, :n]`, a part of x's."""
        refs = self.refs(self._written(place))
        indexes = []
        while isinstance(place, ast.Subscript) and is_tensor(self._flow.symbols.type(place.value)):
            indexes.append(place)
            place = place.value
        for node in reversed(indexes):
            if self._evaluator.is_copying_index(node.slice) is not False:
                break
            refs = self._evaluator.indexed(refs, node)
        return refs

    def _written(self, place: ast.expr) -> ast.expr:
        """`x` of `x[0]` and `x.data`: whose memory a write to the place changes."""
        while isinstance(place, ast.Subscript) or getattr(place, "attr", "") == "data":
            assert isinstance(place, (ast.Subscript, ast.Attribute))
            if isinstance(place, ast.Subscript) and self._is_held_item(place):
                break
            place = place.value
        return place

    def _is_held_item(self, place: ast.Subscript) -> bool:
        """An item of a list or a dict, not a part of a tensor."""
        kind = self._flow.symbols.type(place.value)
        if kind is UNKNOWN:
            return is_tensor(self._flow.symbols.type(place))
        return not is_tensor(kind)

    def _outside(self, written: Refs, place: ast.expr) -> list[Observer]:
        """Those who see it after the function has returned."""
        found: list[Observer] = []
        for ref in sorted(written, key=lambda ref: (ref.memory.name, ref.relation)):
            memory = ref.memory
            if ref.relation == "foreign":
                continue
            if memory.source == "parameter":
                found.append(Observer("caller", memory.name, ref.relation))
            elif memory.source == "global":
                found.append(Observer("global", memory.name, ref.relation))
            elif memory.source == "attribute" and memory.name != ast.unparse(self._written(place)):
                found.append(Observer("attribute", memory.name, ref.relation))
        for memory in self._evaluator.attributes():
            if memory.name == ast.unparse(self._written(place)):
                continue
            held = self._stored_before(memory, place)
            relation = _shared(written, held)
            if relation is None:
                relation = self._inside(written, held, place)
            if relation is not None and memory.outside:
                found.append(Observer("attribute", memory.name, relation))
        return found

    def _inside(self, written: Refs, holders: Refs, place: ast.AST) -> Relation | None:
        """The relation to what the containers among these hold by then, however deep."""
        seen: set[Memory] = set()
        pending = [ref.memory for ref in holders]
        while pending:
            memory = pending.pop()
            if memory in seen:
                continue
            seen.add(memory)
            held = self._stored_before(memory, place)
            relation = _shared(written, held)
            if relation is not None:
                return relation
            pending += [ref.memory for ref in held]
        return None

    def _stored_before(self, memory: Memory, place: ast.AST) -> Refs:
        """What a container holds when the place is written to."""
        cfg = self._flow.cfg
        write = cfg.statement_of(place)
        if write is None:
            return frozenset(memory.contents)
        return frozenset(
            ref
            for ref in memory.contents
            if ref not in memory.stored_by
            or any(self._is_still_held(ref, s, write) for s in memory.stored_by[ref])
        )

    def _is_still_held(self, ref: Ref, store: ast.AST, write: ast.AST) -> bool:
        """Some way from the store to the write does not make the tensor anew in between."""
        cfg = self._flow.cfg
        made = cfg.statement_of(ref.memory.node) if ref.memory.node is not None else None
        if ref.memory.source != "fresh" or made is None or made is store:
            return cfg.may_follow(store, write)
        return cfg.may_follow(store, write, without=self._siblings(made))

    def _siblings(self, made: ast.AST) -> set[ast.AST]:
        """The statements that give the same names new tensors: both branches of an if."""
        names = {definition.name for definition in definitions_of(made)}
        return {made} | {
            definition.statement
            for name in names
            for definition in self._flow.defuse.definitions(name)
            if definition.kind == "assign"
            and self._evaluator.made_in(definition.statement)
            and not isinstance(definition.value, ast.Name)
        }

    def stored(self) -> set[str]:
        """Parameters that outlive the call: put into an attribute, a global or another argument."""
        _ = self._states
        held = [*self._evaluator.attributes(), *self._evaluator.outer()]
        return {
            ref.memory.name
            for memory in held
            if memory.outside
            for ref in memory.contents
            if ref.memory.source == "parameter" and ref.relation != "foreign"
        }

    def is_fresh(self, place: ast.expr) -> Verdict:
        """The function made the tensor, and nobody else holds it."""
        refs = self.refs(self._written(place))
        if not refs:
            return unknown(f"where {ast.unparse(place)} comes from is not known")
        for ref in refs:
            if ref.memory.source != "fresh":
                return no(f"{ast.unparse(place)} is {ref.memory.source} {ref.memory.name}".strip())
            if ref.relation == "maybe":
                return unknown(f"{ast.unparse(place)} may share memory")
        others = self.observers(place)
        return no(str(others[0])) if others else yes()


def _may_store(statement: ast.AST) -> bool:
    """The statement may put a tensor into a container or an attribute."""
    return not isinstance(statement, (ast.Import, ast.ImportFrom, ast.Pass, ast.Global))


def _shared(left: Refs, right: Refs, *, foreign: bool = False) -> Relation | None:
    """How two values share memory, at best knowledge; None when they do not.

    What unknown functions return is taken for new, unless `foreign`.
    """
    best: Relation | None = None
    for mine in left:
        for other in right:
            if "foreign" in (mine.relation, other.relation) and not foreign:
                continue
            if mine.memory is other.memory and not are_apart(mine.parts, other.parts):
                relation = worst(mine.relation, other.relation)
                best = relation if best is None or worst(best, relation) == best else best
    return best


def _root_name(place: ast.expr) -> str:
    while isinstance(place, (ast.Subscript, ast.Attribute)):
        place = place.value
    return place.id if isinstance(place, ast.Name) else ""
