"""Which memory an expression refers to: `x.view(-1)` is a view of x, `x + 1` is new."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from migrate.flow.events import Definition, bound_in, heads
from migrate.flow.layouts import Layouts, called, path_of
from migrate.flow.mapped import Mapped, one_by_one
from migrate.flow.memory import NOTHING, Memory, Ref, Refs, Relation, through, union
from migrate.flow.memory import UNKNOWN as UNKNOWN_LAYOUT
from migrate.flow.parts import item
from migrate.flow.tables import (
    HOLDING,
    NUMBERS,
    PLAIN_ATTRIBUTES,
    REGROUPING,
    SHARED_ATTRIBUTES,
    STORING,
)
from migrate.resolve.hierarchy import is_module
from migrate.resolve.values import (
    INT,
    UNKNOWN,
    External,
    Instance,
    ProjectClass,
    ProjectFunction,
    is_tensor,
    options_of,
)
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow.function import FunctionFlow

_DEEPEST = 30


class Evaluator(Layouts):
    """Evaluates expressions in `state`, the memory of each name at a point."""

    def __init__(self, flow: FunctionFlow) -> None:
        super().__init__(flow)
        self.state: dict[str, Refs] = {}
        self._depth = 0
        self._statement: ast.AST | None = None  # whose stores are being noted

    # Expressions --------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Refs:
        if self.is_plain(node):
            return NOTHING
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                return NOTHING
            method = getattr(self, f"_{type(node).__name__.lower()}", None)
            return method(node) if method is not None else self.fresh(node)
        finally:
            self._depth -= 1

    def _constant(self, node: ast.Constant) -> Refs:
        return NOTHING

    def _name(self, node: ast.Name) -> Refs:
        found = self.state.get(node.id)
        if found is not None:
            return found
        if node.id not in self._globals:
            self._globals[node.id] = Memory("global", node.id, node, outside=True)
        return frozenset({Ref(self._globals[node.id])})

    def _attribute(self, node: ast.Attribute) -> Refs:
        if node.attr in SHARED_ATTRIBUTES:
            relation: Relation = "same" if node.attr == "data" else "view"
            return through(self.value(node.value), relation, node)
        if node.attr in PLAIN_ATTRIBUTES:
            return NOTHING
        getter = self._getter(node)
        if getter is not None:
            held = self._flow.effects.summary(getter).returns_held
            memory = self.held_by_callee(node, node)
            return frozenset({Ref(memory, held, UNKNOWN_LAYOUT)} if held else ())
        owner = self.value(node.value)
        found: set[Ref] = {
            held
            for ref in owner
            if ref.memory.source == "container"
            for held in ref.memory.contents
        }
        path = ast.unparse(node)
        layout = None if path in self.fixed_attributes else UNKNOWN_LAYOUT
        for memory in self.field(owner, path, node.attr):
            itself = Ref(memory, layout=layout)
            found |= memory.contents or {itself}
            if memory.outside:
                found.add(itself)
        return frozenset(found)

    def _getter(self, node: ast.Attribute) -> ProjectFunction | None:
        """The method behind a property of a class of the program."""
        kind = self._flow.symbols.type(node.value)
        cls = kind.cls if isinstance(kind, Instance) else None
        method = cls.body.get(node.attr) if isinstance(cls, ProjectClass) else None
        if not isinstance(method, ProjectFunction) or isinstance(method.node, ast.Lambda):
            return None
        named = (getattr(d, "id", "") for d in method.node.decorator_list)
        return method if "property" in named else None

    def _subscript(self, node: ast.Subscript) -> Refs:
        held = self.value(node.value)
        copied = self.is_copying_index(node.slice)
        containers = any(ref.memory.source == "container" for ref in held)
        if containers or not is_tensor(self._flow.symbols.type(node.value)):
            if isinstance(node.slice, ast.Slice):
                return frozenset(replace(ref, layout=UNKNOWN_LAYOUT) for ref in held)
            return self.listed_item(held, node)
        if copied:
            return self.fresh(node)
        views = self.indexed(held, node)
        return through(views, "maybe") | self.fresh(node) if copied is None else views

    def _ifexp(self, node: ast.IfExp) -> Refs:
        return self.value(node.body) | self.value(node.orelse)

    def _boolop(self, node: ast.BoolOp) -> Refs:
        return union(map(self.value, node.values))

    def _namedexpr(self, node: ast.NamedExpr) -> Refs:
        return self.value(node.value)

    def _starred(self, node: ast.Starred) -> Refs:
        return self.elements(self.value(node.value), node.value)

    def _await(self, node: ast.Await) -> Refs:
        return self.value(node.value)

    def _tuple(self, node: ast.Tuple | ast.List | ast.Set) -> Refs:
        return self._held(node, union(map(self.value, node.elts)))

    _list = _set = _tuple

    def _dict(self, node: ast.Dict) -> Refs:
        return self._held(node, union(map(self.value, node.values)))

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Refs:
        return self._held(node, self._within(node.generators, node.elt))

    _generatorexp = _setcomp = _listcomp

    def _dictcomp(self, node: ast.DictComp) -> Refs:
        return self._held(node, self._within(node.generators, node.value))

    def _within(self, generators: list[ast.comprehension], result: ast.expr) -> Refs:
        outer, self.state = self.state, dict(self.state)
        for part in generators:
            items = self.elements(self.value(part.iter), part.iter)
            for name in bound_in(part.target):
                self.state[name] = (
                    items if isinstance(part.target, ast.Name) else items | _contents(items)
                )
        found = self.value(result)
        self.state = outer
        return found

    # Calls --------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Refs:
        function = node.func
        api = self._flow.symbols.api(function)
        name = api.rpartition(".")[2] if api else called(function)
        if self._flow.symbols.targets(node):
            return self._of_program(node)
        if isinstance(function, ast.Name) and not api:
            if function.id in NUMBERS:
                return NOTHING
            if function.id in REGROUPING:
                return self._regrouped(node, function.id)
        if isinstance(self._flow.symbols.type(function), ProjectClass):
            return self._constructed(node)
        layer = self._flow.effects.layer_of(function)
        if layer is not None and node.args:
            return self.after_call(node, self.value(node.args[0]), layer.returns)
        subject = self._subject(node, api)
        if subject is not None:
            relation = self.relation_of(name, node)
            if relation is not None:
                return self.after_call(node, self.value(subject), relation)
            if name in HOLDING and isinstance(function, ast.Attribute):
                held = self.elements(self.value(function.value), function.value)
                return self._held(node, held) | held
        if api or not _passes_values(node):
            return self.fresh(node)
        if self._is_layer(function):
            return self.fresh(node)
        return self.fresh(node) | through(union(map(self.value, _arguments(node))), "foreign")

    def _is_layer(self, function: ast.expr) -> bool:
        """A layer that is made elsewhere computes a new tensor."""
        return any(
            isinstance(o, Instance) and isinstance(o.cls, str) and is_module(o.cls)
            for o in options_of(self._flow.symbols.type(function))
        )

    def _constructed(self, node: ast.Call) -> Refs:
        """An object of a class of the program may hold what its constructor is given."""
        return self._held(node, union(map(self.value, _arguments(node))))

    def _subject(self, node: ast.Call, api: str) -> ast.expr | None:
        """The tensor that a call is about: its receiver, or its first argument."""
        function = node.func
        if isinstance(function, ast.Attribute) and not self._is_namespace(function.value):
            return function.value
        if node.args:
            first = node.args[0]
            return first.value if isinstance(first, ast.Starred) else first
        return next((k.value for k in node.keywords if k.arg == "input"), None)

    def _is_namespace(self, node: ast.expr) -> bool:
        """`torch`, `F`, `torch.nn.functional`: a module of a library."""
        return isinstance(self._flow.symbols.type(node), External) or (
            isinstance(node, ast.Name)
            and node.id not in self.state
            and self._flow.symbols.type(node) is UNKNOWN
            and node.id in ("torch", "F", "nn", "np", "numpy", "math")
        )

    def _regrouped(self, node: ast.Call, name: str) -> Refs:
        held = union(self.elements(self.value(a), a) for a in node.args)
        return held if name == "next" else self._held(node, held)

    def _of_program(self, node: ast.Call) -> Refs:
        """A function of the program: its summary says what of its arguments comes back."""
        effects = self._flow.effects.of_call(node)
        found = set(self.fresh(node))
        for argument, relation in effects.returns:
            given = self.after_call(node, self.value(argument), relation)
            found |= {_of_elsewhere(ref) if ref.layout is node else ref for ref in given}
        if effects.returns and not effects.returns_new:
            found -= self.fresh(node)
        if effects.returns_held is not None:
            memory = self.held_by_callee(node, node.func)
            found.add(Ref(memory, effects.returns_held, UNKNOWN_LAYOUT))
        return frozenset(found)

    # Stores -------------------------------------------------------------------------------------

    def unpacked(self, value: ast.expr, definition: Definition) -> Refs:
        mapped = one_by_one(value)
        path = path_of(definition)
        if mapped is not None and path is not None and len(path) == 1:
            return self._mapped_item(value, mapped, path[0], definition)
        return self.unpacked_items(self.value(value), value, definition)

    def _mapped_item(
        self, value: ast.expr, mapped: Mapped, index: int, definition: Definition
    ) -> Refs:
        """Item 0 of `q, k = map(lambda t: t.view(-1), (q, k))` is a view of q alone."""
        source = mapped.source
        shown = source.elts if isinstance(source, (ast.Tuple, ast.List)) else []
        if index < len(shown) and not any(isinstance(part, ast.Starred) for part in shown):
            given = self.value(shown[index])
        else:
            given = self.unpacked_items(self.value(source), source, definition)
        outer, self.state = self.state, {**self.state, mapped.name: given}
        found = self.value(mapped.result)
        self.state = outer
        own = set(all_nodes(mapped.result))
        return frozenset(
            ref.part(item(value, (index,))) if ref.memory.node in own else ref for ref in found
        )

    def iterated(self, iterable: ast.expr, definition: Definition) -> Refs:
        if self._counts(definition):
            return NOTHING
        held = self.elements(self.value(iterable), iterable)
        target = getattr(definition.statement, "target", None)
        return held if isinstance(target, ast.Name) else held | _contents(held)

    def _counts(self, definition: Definition) -> bool:
        """`i` of `for i, batch in enumerate(loader)`: a number, and no part of what is held."""
        named = (
            self._flow.symbols.type(node)
            for node in all_nodes(definition.node)
            if isinstance(node, ast.Name) and node.id == definition.name
        )
        return any(kind is INT for kind in named)

    def effects_of(self, statement: ast.AST) -> None:
        """Put what the statement stores into the containers and attributes concerned."""
        self._statement = statement
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                self._store(target, statement.value)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self._store(statement.target, statement.value)
        for head in heads(statement):
            if isinstance(head, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            for node in all_nodes(head):
                if isinstance(node, ast.Call) and called(node.func) in STORING:
                    self._put(node)

    def _store(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else None
            for index, part in enumerate(target.elts):
                known = parts is not None and len(parts) == len(target.elts)
                if parts is not None and known:
                    self._store(part, parts[index])
        elif isinstance(target, ast.Attribute):
            held = self.field(self.value(target.value), ast.unparse(target), target.attr)
            self._put_into(held, value)
        elif isinstance(target, ast.Subscript):
            if is_tensor(self._flow.symbols.type(target.value)):
                return  # copies the value
            self._put_into([ref.memory for ref in self.value(target.value)], value)

    def _put_into(self, places: list[Memory], value: ast.expr) -> None:
        """What the value is before any of the places holds it."""
        given = self.value(value) if places else NOTHING
        for memory in places:
            memory.put(given, self._statement)

    def _put(self, call: ast.Call) -> None:
        if not isinstance(call.func, ast.Attribute):
            return
        given = union(map(self.value, _arguments(call)))
        if call.func.attr in ("extend", "update"):
            given |= _contents(given)
        for ref in self.value(call.func.value):
            ref.memory.put(given, self._statement)


def _contents(refs: Refs) -> Refs:
    """What containers among these hold; of tensors, views."""
    found: set[Ref] = set()
    for ref in refs:
        if ref.memory.source == "container":
            found |= ref.memory.contents
        else:
            found.add(ref.through("view"))
    return frozenset(found)


def _of_elsewhere(ref: Ref) -> Ref:
    """A view that a function of the program lays out, in whatever way."""
    return replace(ref, layout=UNKNOWN_LAYOUT, overlaps=True)


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _passes_values(node: ast.Call) -> bool:
    return bool(node.args or node.keywords)
