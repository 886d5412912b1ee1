"""What functions, methods and layers do to their arguments and to self, over the call graph."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from migrate.flow.answer import Verdict, unknown, yes
from migrate.flow.events import arguments_of
from migrate.flow.layers import PLAIN, Layer, Layers, Returns
from migrate.flow.memory import Ref, Refs, Relation
from migrate.flow.mutations import Mutation, fills, mutations
from migrate.resolve.values import is_tensor
from migrate.syntax.access import name_of

if TYPE_CHECKING:
    from migrate.flow import Flow
    from migrate.flow.function import FunctionFlow
    from migrate.flow.symbols import Target
    from migrate.resolve.values import ProjectFunction

_ORDER: dict[str, int] = {"same": 0, "view": 1, "maybe": 2, "new": 3}


@dataclass(slots=True)
class Summary:
    """The effects of one function, in terms of its parameters."""

    mutates: dict[str, Verdict] = field(default_factory=dict)
    how: dict[str, str] = field(default_factory=dict)  # parameter -> the one operation, if one
    items: set[str] = field(default_factory=set)  # parameters that only get other items
    filled: set[str] = field(default_factory=set)  # containers that get or lose items
    returns: dict[str, Returns] = field(default_factory=dict)
    returns_new: bool = False  # some return gives a value of its own
    returns_held: Relation | None = None  # of what an attribute or a global holds
    returns_apart: bool = False  # a tuple of values that share no memory among themselves
    self_writes: set[str] = field(default_factory=set)  # attributes of self that are changed
    stores: set[str] = field(default_factory=set)  # parameters that outlive the call


def _note_mutation(found: Summary, function: ProjectFunction, mutation: Mutation, ref: Ref) -> None:
    """A parameter's memory is changed, or gets another item."""
    name = ref.memory.name
    if mutation.kind == "item":
        found.items.add(name)
        return
    sure = ref.relation != "maybe" and mutation.verdict.yes
    reason = f"{function.qualified} changes its parameter {name} in place"
    old = found.mutates.get(name)
    if old is None or not old.yes:
        found.mutates[name] = yes(reason) if sure else unknown(reason)
    once = ref.relation == "same" and name not in found.how
    found.how[name] = mutation.how if once else ""


@dataclass(slots=True)
class CallEffects:
    """The effects of one call, in terms of its argument expressions."""

    mutated: list[tuple[ast.expr, Verdict, str]] = field(default_factory=list)
    returns: list[tuple[ast.expr, Returns]] = field(default_factory=list)
    returns_new: bool = True
    returns_held: Relation | None = None
    returns_apart: bool = False
    filled: list[ast.expr] = field(default_factory=list)  # containers that get or lose items


_NO_EFFECTS = CallEffects()


class Effects:
    """Summaries, each computed once; a function that is reached from itself adds nothing."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.layers = Layers(self)
        self._summaries: dict[ProjectFunction, Summary] = {}
        self._calls: dict[ast.Call, CallEffects] = {}

    # Calls --------------------------------------------------------------------------------------

    def layer_of(self, function: ast.expr) -> Layer | None:
        """The layer that a call runs: `self.relu`, `self.blocks[0]`, `nn.ReLU(True)`."""
        around = self.flow.around(function)
        return self.layers.called(function, around) if around is not None else None

    def of_call(self, call: ast.Call) -> CallEffects:
        known = self._calls.get(call)
        if known is None:
            self._calls[call] = _NO_EFFECTS  # while it is looked at
            known = self._calls[call] = self._of_call(call)
        return known

    def _of_call(self, call: ast.Call) -> CallEffects:
        targets = self.flow.symbols.targets(call)
        if not targets:
            layer = self.layer_of(call.func) if call.args else None
            if layer is None or layer == PLAIN:
                return _NO_EFFECTS
            first = call.args[0]
            returns: list[tuple[ast.expr, Returns]] = []
            mutated = [] if layer.mutates.no else [(first, layer.mutates, layer.how)]
            if layer.returns != "new":
                returns.append((first, layer.returns))
            return CallEffects(mutated, returns, layer.returns in ("new", "maybe"))
        found = CallEffects(returns_new=False, returns_apart=True)
        for target in targets:
            self._add(found, call, target, sure=len(targets) == 1)
        return found

    def _add(self, found: CallEffects, call: ast.Call, target: Target, *, sure: bool) -> None:
        summary = self.summary(target.function)
        given = arguments_given(call, target)
        for name, verdict in summary.mutates.items():
            if name in given:
                known = verdict if sure else unknown(verdict.reason or "one of several functions")
                found.mutated.append((given[name], known, summary.how.get(name, "")))
        filled = summary.filled | summary.items
        found.filled += [place for name, place in given.items() if name in filled]
        for name, relation in summary.returns.items():
            if name in given:
                found.returns.append((given[name], relation if sure else "maybe"))
        found.returns_new |= summary.returns_new or not summary.returns
        found.returns_held = found.returns_held or summary.returns_held
        found.returns_apart &= summary.returns_apart

    # Functions ----------------------------------------------------------------------------------

    def summary(self, function: ProjectFunction) -> Summary:
        known = self._summaries.get(function)
        if known is None:
            self._summaries[function] = Summary()  # while it is looked at
            known = self._summaries[function] = self._summarize(function)
        return known

    def _summarize(self, function: ProjectFunction) -> Summary:
        inner = self.flow.of(function)
        found = Summary()
        for mutation in mutations(inner):
            for ref in inner.aliases.refs(mutation.place):
                memory = ref.memory
                if memory.source == "attribute" and memory.name.startswith("self."):
                    found.self_writes.add(memory.name.partition(".")[2])
                if memory.source != "parameter" or memory.name == "self":
                    continue
                if ref.relation != "foreign":
                    _note_mutation(found, function, mutation, ref)
        for fill in fills(inner):
            sources = inner.aliases.refs(fill.place)
            found.filled |= {r.memory.name for r in sources if r.memory.source == "parameter"}
        self._returned(inner, found)
        found.stores = inner.aliases.stored()
        found.self_writes |= _assigned_attributes(inner)
        return found

    def _returned(self, inner: FunctionFlow, found: Summary) -> None:
        results = [value for point in inner.cfg.points[2:] for value in _results(point.statement)]
        found.returns_apart = bool(results) and all(_are_apart(inner, value) for value in results)
        for point in inner.cfg.points[2:]:
            for value in _results(point.statement):
                refs = inner.aliases.refs(value)
                shared = _parameters(refs)
                for name, relation in shared.items():
                    old = found.returns.get(name)
                    worst = relation if old is None else max(old, relation, key=_ORDER.__getitem__)
                    found.returns[name] = worst
                found.returns_new |= not refs or any(r.memory.source != "parameter" for r in refs)
                if is_tensor(inner.symbols.type(value)):
                    found.returns_held = found.returns_held or _held_outside(refs)
        for name in list(found.returns):
            if found.returns_new and found.returns[name] != "maybe":
                found.returns[name] = "maybe"

    def as_layer(self, forward: ProjectFunction) -> Layer | None:
        """The forward of a class of the program as a layer."""
        names = [a.arg for a in arguments_of(forward.node)]
        if len(names) < 2:
            return PLAIN
        summary = self.summary(forward)
        verdict = summary.mutates.get(names[1])
        returns = summary.returns.get(names[1], "new")
        return (
            Layer(verdict, returns, summary.how.get(names[1], ""))
            if verdict
            else Layer(returns=returns)
        )


def arguments_given(call: ast.Call, target: Target) -> dict[str, ast.expr]:
    """The argument expressions by the name of the parameter; none behind a `*args`."""
    node = target.function.node
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    names = names[1:] if target.bound else names
    found: dict[str, ast.expr] = {}
    for name, argument in zip(names, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        found[name] = argument
    return found | {k.arg: k.value for k in call.keywords if k.arg is not None}


def _results(statement: ast.AST) -> list[ast.expr]:
    """What a statement returns or yields."""
    if isinstance(statement, ast.Return):
        return [statement.value] if statement.value is not None else []
    value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    given = value.value if isinstance(value, (ast.Yield, ast.YieldFrom)) else None
    return [given] if given is not None else []


def _are_apart(inner: FunctionFlow, value: ast.expr) -> bool:
    """`x + 1, x * 2`: no two of the values share memory, and none is a container."""
    if not isinstance(value, ast.Tuple) or any(isinstance(v, ast.Starred) for v in value.elts):
        return False
    refs = [inner.aliases.refs(part) for part in value.elts]
    if any(ref.memory.source == "container" for part in refs for ref in part):
        return False
    pairs = combinations(value.elts, 2)
    return all(inner.aliases.may_alias(left, right).no for left, right in pairs)


def _parameters(refs: Refs) -> dict[str, Returns]:
    found: dict[str, Returns] = {}
    pending = list(refs)
    seen = set()
    while pending:
        ref = pending.pop()
        if ref in seen:
            continue
        seen.add(ref)
        if ref.memory.source == "parameter" and ref.relation != "foreign":
            found[ref.memory.name] = ref.relation
        elif ref.memory.source == "container":
            pending += ref.memory.contents
    return found


def _held_outside(refs: Refs) -> Relation | None:
    """How a result shares the memory of an attribute or of a global."""
    relations = (r.relation for r in refs if r.memory.source in ("attribute", "global"))
    return next((relation for relation in relations if relation in ("same", "view")), None)


def _assigned_attributes(inner: FunctionFlow) -> set[str]:
    found: set[str] = set()
    for point in inner.cfg.points[2:]:
        statement = point.statement
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
            targets = [statement.target]
        for target in targets:
            for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                while isinstance(part, ast.Subscript):
                    part = part.value
                if isinstance(part, ast.Attribute) and name_of(part.value) == "self":
                    found.add(part.attr)
    return found
