"""What a layer does to its input: `nn.ReLU(inplace=True)` changes it and returns it, a Sequential
that begins with one changes it and returns something else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Literal

from migrate.flow.answer import Verdict, no, unknown, yes
from migrate.flow.given_layers import GivenLayers
from migrate.flow.layer_lists import Prefix, list_prefixes
from migrate.flow.layer_members import LayerMembers
from migrate.flow.project_flags import builds_any_in_place, builds_in_place, sets_in_place
from migrate.flow.tables import MAYBE_SAME_LAYERS, SAME_LAYERS, VIEW_LAYERS
from migrate.resolve.hierarchy import is_module
from migrate.resolve.values import (
    External,
    Instance,
    Method,
    ProjectClass,
    ProjectFunction,
    options_of,
)
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow.effects import Effects
    from migrate.flow.events import Definition
    from migrate.flow.function import FunctionFlow

Returns = Literal["same", "view", "maybe", "new"]
_ORDER: dict[Returns, int] = {"same": 0, "view": 1, "maybe": 2, "new": 3}
_CONTAINERS = ("torch.nn.Sequential",)
_LISTS = ("torch.nn.ModuleList", "torch.nn.ModuleDict")
_DEEPEST = 12
NO = no()


@dataclass(frozen=True, slots=True)
class Layer:
    """The effect of a layer on its first argument, and what it returns of it."""

    mutates: Verdict = NO
    returns: Returns = "new"
    how: str = ""  # "relu": the operation that changes the input


PLAIN = Layer()


def in_sequence(layers: Iterable[Layer]) -> Layer:
    """One layer after the other, each on the result of the one before."""
    mutates, how, returns = no(), "", _same()
    for layer in layers:
        if returns == "new":
            break
        if not layer.mutates.no and mutates.no:
            sure = returns in ("same", "view") and layer.mutates.yes
            reason = layer.mutates.reason
            mutates = yes(reason) if sure else unknown(reason or "a layer may change its input")
            how = layer.how if returns == "same" else ""
        elif not layer.mutates.no:
            how = ""  # changed twice
        returns = max(returns, layer.returns, key=_ORDER.__getitem__)
    return Layer(mutates, returns, how)


def _same() -> Returns:
    return "same"


def either(left: Layer, right: Layer) -> Layer:
    """One of two layers; what they do not agree on is unknown."""
    if left == right:
        return left
    if left.mutates.answer is right.mutates.answer:
        mutates = left.mutates
    else:
        reason = left.mutates.reason or right.mutates.reason
        mutates = unknown(reason or "one of its forms changes its input")
    returns: Returns = left.returns if left.returns == right.returns else "maybe"
    return Layer(mutates, returns, left.how if left.how == right.how else "")


def _definitions(node: ast.Name, flow: FunctionFlow) -> tuple[Sequence[Definition], FunctionFlow]:
    """What a name can be, and the function that binds it: an inner one reads those around it."""
    found: Sequence[Definition] = flow.defuse.reaching(node)
    while not found:
        outer = flow.flow.around(flow.node)
        if outer is None or outer.node is flow.node:
            break
        flow = outer
        found = flow.defuse.definitions(node.id)
    return found, flow


class Layers:
    """Finds the layers behind expressions."""

    def __init__(self, effects: Effects) -> None:
        self._effects = effects
        self._assigned: dict[ProjectClass, dict[str, list[tuple[ast.expr, ProjectFunction]]]] = {}
        self._known: dict[ast.AST, Layer | None] = {}
        self._depth = 0
        self._members = LayerMembers(self)
        self._given = GivenLayers(self)

    def called(self, node: ast.expr, flow: FunctionFlow) -> Layer | None:
        """The layer that a call runs; where nobody sees how it was built, what its class allows."""
        return self.of(node, flow) or self._untraced(node, flow)

    def _untraced(self, node: ast.expr, flow: FunctionFlow) -> Layer | None:
        """A layer from a table, a partial, an attribute that is set from outside: it may work in
        place if the program builds one of its class so.
        """
        project = self._effects.flow.modules.project
        kinds = options_of(flow.symbols.type(node))
        names = [k.cls for k in kinds if isinstance(k, Instance) and isinstance(k.cls, str)]
        for name in names:
            last = name.rpartition(".")[2]
            if name in _CONTAINERS:
                return self._unseen()
            if is_module(name) and builds_in_place(project, last):
                text = f"some nn.{last} of the program works in place, and how this one was built"
                return Layer(unknown(f"{text} is not known"), "maybe", last.lower())
        if isinstance(node, ast.Attribute) and sets_in_place(project, node.attr):
            reason = f"the program sets some .{node.attr} to a layer that works in place"
            return Layer(unknown(reason), "maybe")
        return None

    def _unseen(self) -> Layer | None:
        """The first layer of a container that is put together out of view."""
        if not builds_any_in_place(self._effects.flow.modules.project):
            return None
        return Layer(unknown("its first layer, which is not known, may change its input"), "maybe")

    def of(self, node: ast.expr, flow: FunctionFlow) -> Layer | None:
        """The layer that an expression holds; None where it is no layer that we know."""
        if node in self._known:
            return self._known[node]
        if self._depth > _DEEPEST:
            return None
        self._known[node] = None  # while it is looked at
        self._depth += 1
        try:
            found = self._find(node, flow)
        finally:
            self._depth -= 1
        self._known[node] = found
        return found

    def _find(self, node: ast.expr, flow: FunctionFlow) -> Layer | None:
        if isinstance(node, ast.Call):
            return self._constructed(node, flow)
        if isinstance(node, ast.IfExp):
            return self._one_of([self.of(node.body, flow), self.of(node.orelse, flow)])
        if isinstance(node, ast.Name):
            definitions, binder = _definitions(node, flow)
            values = [d.value for d in definitions]
            if values and all(value is not None for value in values):
                return self._one_of([self.of(v, binder) for v in values if v is not None])
            return self._of_instance(node, flow) or self._bound(definitions, binder)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, flow) or self._of_instance(node, flow)
        if isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Slice) and node.slice.lower is None:
                return self.of(node.value, flow)
            found = self._one_of(list(self._members.of(node.value, flow)))
            return found or self.of(node.value, flow)
        return None

    def _bound(self, definitions: Sequence[Definition], flow: FunctionFlow) -> Layer | None:
        """What a loop goes over, or callers pass for a parameter."""
        members = [m for d in definitions for m in self._members.of_loop(d, flow)]
        members += [
            given
            for definition in definitions
            if definition.kind == "parameter" and definition.name not in ("self", "cls")
            for given in self._given.of(definition.name, flow)
        ]
        return self._one_of(members)

    def _one_of(self, found: list[Layer | None]) -> Layer | None:
        known = [layer for layer in found if layer is not None]
        if not known:
            return None
        return reduce(either, known if len(known) == len(found) else [*known, PLAIN])

    def _of_instance(self, node: ast.expr, flow: FunctionFlow) -> Layer | None:
        """An object of a class of the program: its forward says it."""
        found = [
            self.of_class(option.cls)
            for option in options_of(flow.symbols.type(node))
            if isinstance(option, Instance) and isinstance(option.cls, ProjectClass)
        ]
        return self._one_of(list(found))

    def of_class(self, cls: ProjectClass) -> Layer | None:
        for base in cls.lineage():
            forward = base.body.get("forward") if isinstance(base, ProjectClass) else None
            if isinstance(forward, ProjectFunction):
                return self._effects.as_layer(forward)
            if base in _CONTAINERS:
                return PLAIN
        return None

    # Attributes ---------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, flow: FunctionFlow) -> Layer | None:
        found: list[Layer | None] = []
        for option in options_of(flow.symbols.type(node.value)):
            if isinstance(option, Instance) and isinstance(option.cls, ProjectClass):
                for value, method in self.assigned(option.cls, node.attr):
                    found.append(self.of(value, self._effects.flow.of(method)))
        return self._one_of(found)

    def assigned(self, cls: ProjectClass, name: str) -> list[tuple[ast.expr, ProjectFunction]]:
        """What the methods of a class and its bases assign to an attribute of self."""
        found: list[tuple[ast.expr, ProjectFunction]] = []
        for base in cls.lineage():
            if isinstance(base, ProjectClass):
                if base not in self._assigned:
                    self._assigned[base] = self._scan(base)
                found += self._assigned[base].get(name, [])
        return found

    def all_assigned(self, cls: ProjectClass) -> list[tuple[ast.expr, ProjectFunction]]:
        """What the methods of a class and its bases assign to any attribute of self."""
        self.assigned(cls, "")
        bases = [base for base in cls.lineage() if isinstance(base, ProjectClass)]
        return [pair for base in bases for row in self._assigned[base].values() for pair in row]

    def _scan(self, cls: ProjectClass) -> dict[str, list[tuple[ast.expr, ProjectFunction]]]:
        found: dict[str, list[tuple[ast.expr, ProjectFunction]]] = {}
        for method in cls.body.values():
            if not isinstance(method, ProjectFunction):
                continue
            for statement in self._effects.flow.body_of(method):
                for node in all_nodes(statement):
                    for name, value in _attribute_writes(node):
                        found.setdefault(name, []).append((value, method))
        return found

    # Constructors -------------------------------------------------------------------------------

    def _constructed(self, call: ast.Call, flow: FunctionFlow) -> Layer | None:
        api = flow.symbols.api(call.func)
        if api in _CONTAINERS:
            return self._sequential(call, flow)
        if api in _LISTS:
            parts = [self.of(part, flow) for part in _listed(call)]
            return self._one_of(parts) if parts else None
        if api and is_module(api):
            return self._library(api, call)
        made = flow.symbols.type(call.func)
        if isinstance(made, ProjectClass):
            return self.of_class(made)
        run = made.function if isinstance(made, Method) else made
        if isinstance(run, ProjectFunction):
            return self._returned(run)
        kinds = [m.name for m in options_of(made) if isinstance(m, External) and is_module(m.name)]
        if kinds:
            return self._one_of([self._library(name, call) for name in kinds])
        if any(keyword.arg == "inplace" for keyword in call.keywords):
            return self._library("", call)  # a class that somebody passes: act(inplace=True)
        return None

    def _library(self, api: str, call: ast.Call) -> Layer:
        if api in SAME_LAYERS:
            return Layer(returns="same")
        if api in VIEW_LAYERS:
            return Layer(returns="view")
        inplace = self._inplace(api, call)
        name = api.rpartition(".")[2].lower()
        if inplace is True:
            return Layer(yes(f"{ast.unparse(call)} changes its input"), "same", name)
        if inplace is None:
            return Layer(unknown(f"{ast.unparse(call)} may change its input"), "maybe", name)
        return Layer(returns="maybe") if api in MAYBE_SAME_LAYERS else PLAIN

    def _inplace(self, api: str, call: ast.Call) -> bool | None:
        entry = self._effects.flow.table.get(api)
        signature = entry.main.signature if entry is not None else None
        names = [parameter.name for parameter in signature.positional] if signature else []
        if "inplace" not in names and not any(k.arg == "inplace" for k in call.keywords):
            return False
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        given |= dict(zip(names, call.args, strict=False))
        value = given.get("inplace")
        if value is None:
            return False
        return bool(value.value) if isinstance(value, ast.Constant) else None

    def _returned(self, function: ProjectFunction) -> Layer | None:
        """`make_block()` of the program: the layer that it returns."""
        inner = self.flow_of(function)
        return self._one_of([self.of(value, inner) for value in self.returned_values(function)])

    def returned_values(self, function: ProjectFunction) -> list[ast.expr]:
        return [
            node.value
            for statement in self._effects.flow.body_of(function)
            for node in all_nodes(statement)
            if isinstance(node, ast.Return) and node.value is not None
        ]

    def flow_of(self, function: ProjectFunction) -> FunctionFlow:
        return self._effects.flow.of(function)

    def _sequential(self, call: ast.Call, flow: FunctionFlow) -> Layer:
        options = [
            in_sequence(self._heads(prefix, flow)) for prefix in list_prefixes(call, flow.cfg.scope)
        ]
        return reduce(either, options) if options else PLAIN

    def _heads(self, prefix: Prefix, flow: FunctionFlow) -> list[Layer]:
        found = [self.called(part, flow) if part is not None else self._unseen() for part in prefix]
        return [layer if layer is not None else PLAIN for layer in found]


_REGISTERING = frozenset({"add_module", "register_module", "register_buffer", "register_parameter"})


def _attribute_writes(node: ast.AST) -> list[tuple[str, ast.expr]]:
    """`self.a = self.b = layer`, `self.a, self.b = one, other`, `self.add_module("a", layer)`."""
    if isinstance(node, ast.Assign):
        pairs = [pair for target in node.targets for pair in _pairs(target, node.value)]
        return [(target.attr, value) for target, value in pairs if _is_own(target)]  # type: ignore[attr-defined]
    if isinstance(node, ast.AnnAssign) and node.value is not None and _is_own(node.target):
        return [(node.target.attr, node.value)]  # type: ignore[union-attr]
    if (
        isinstance(node, ast.Call)
        and _is_own(node.func)
        and getattr(node.func, "attr", "") in _REGISTERING
        and len(node.args) >= 2
        and isinstance(node.args[0], ast.Constant)
    ):
        return [(str(node.args[0].value), node.args[1])]
    return []


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Each target of an assignment with what it is given, as far as the source pairs them."""
    several = (ast.Tuple, ast.List)
    if not isinstance(target, several):
        return [(target, value)]
    if not isinstance(value, several) or len(target.elts) != len(value.elts):
        return []
    return list(zip(target.elts, value.elts, strict=True))


def _is_own(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _listed(call: ast.Call) -> list[ast.expr]:
    """The layers that are put into a ModuleList or ModuleDict where it is made."""
    first = call.args[0] if call.args else None
    if isinstance(first, (ast.List, ast.Tuple)):
        return list(first.elts)
    if isinstance(first, (ast.ListComp, ast.GeneratorExp)):
        return [first.elt]
    if isinstance(first, ast.Dict):
        return list(first.values)
    return []
