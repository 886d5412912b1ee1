"""Which memory an expression refers to: `x.view(-1)` is a view of x, `x + 1` is new."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.flow.events import Definition, bound_in, heads
from migrate.flow.memories import Memories
from migrate.flow.memory import NOTHING, Memory, Ref, Refs, Relation, through, union
from migrate.flow.tables import (
    HOLDING,
    MAYBE_SAME,
    MAYBE_VIEWS,
    NUMBERS,
    NUMPY,
    PLAIN_ATTRIBUTES,
    REGROUPING,
    SAME,
    SHARED_ATTRIBUTES,
    STORING,
    VIEWS,
    is_in_place,
)
from migrate.resolve.hierarchy import is_module
from migrate.resolve.values import (
    UNKNOWN,
    External,
    Instance,
    Known,
    ListOf,
    ProjectClass,
    ProjectFunction,
    TupleOf,
    Value,
    is_tensor,
    options_of,
)
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow.function import FunctionFlow

_PLAIN = frozenset({"builtins.int", "builtins.float", "builtins.number", "builtins.str"})
_PLAIN |= {"builtins.bool", "torch.dtype", "torch.device"}
_DEEPEST = 30


class Evaluator(Memories):
    """Evaluates expressions in `state`, the memory of each name at a point."""

    def __init__(self, flow: FunctionFlow) -> None:
        super().__init__(flow)
        self.state: dict[str, Refs] = {}
        self._depth = 0
        self._statement: ast.AST | None = None  # whose stores are being noted

    # Expressions --------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Refs:
        if self._is_plain(node):
            return NOTHING
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                return NOTHING
            method = getattr(self, f"_{type(node).__name__.lower()}", None)
            return method(node) if method is not None else self.fresh(node)
        finally:
            self._depth -= 1

    def _is_plain(self, node: ast.expr) -> bool:
        """A number, a text, a shape: nothing that could be changed in place."""
        kind = self._flow.symbols.type(node)
        return kind is not UNKNOWN and all(map(_is_plain_value, options_of(kind)))

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
            return through(self.value(node.value), relation)
        if node.attr in PLAIN_ATTRIBUTES:
            return NOTHING
        getter = self._getter(node)
        if getter is not None:
            held = self._flow.effects.summary(getter).returns_held
            return frozenset({Ref(self.held_by_callee(node, node), held)} if held else ())
        owner = self.value(node.value)
        found: set[Ref] = {
            held
            for ref in owner
            if ref.memory.source == "container"
            for held in ref.memory.contents
        }
        for memory in self.field(owner, ast.unparse(node), node.attr):
            found |= memory.contents or {Ref(memory)}
            if memory.outside:
                found.add(Ref(memory))
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
        copied = self._is_copying_index(node.slice)
        containers = any(ref.memory.source == "container" for ref in held)
        if containers or not is_tensor(self._flow.symbols.type(node.value)):
            if isinstance(node.slice, ast.Slice):
                return held
            return self.elements(held, node.value, ast.unparse(node.slice))
        if copied:
            return self.fresh(node)
        views = through(held, "view")
        return through(views, "maybe") | self.fresh(node) if copied is None else views

    def _is_copying_index(self, index: ast.expr) -> bool | None:
        """An index of tensors, lists or masks copies; None where its type is not known."""
        if isinstance(index, ast.Tuple):
            answers = [self._is_copying_index(part) for part in index.elts]
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
        name = api.rpartition(".")[2] if api else _called(function)
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
            return self._through(node, self.value(node.args[0]), layer.returns)
        subject = self._subject(node, api)
        if subject is not None:
            relation = self._relation(name, node)
            if relation is not None:
                return self._through(node, self.value(subject), relation)
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

    def _through(self, node: ast.Call, refs: Refs, relation: str) -> Refs:
        if relation == "same":
            return refs
        if relation == "view":
            return through(refs, "view")
        if relation == "maybe":
            return through(refs, "maybe") | self.fresh(node)
        return self.fresh(node)

    def _relation(self, name: str, node: ast.Call) -> Relation | None:
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
        kinds = options_of(self._flow.symbols.type(node.args[0]))
        return all(
            (isinstance(k, Known) and isinstance(k.value, str))
            or (isinstance(k, Instance) and k.cls in ("torch.device", "builtins.str"))
            for k in kinds
        ) or "device" in ast.unparse(node.args[0])

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
            found |= self._through(node, self.value(argument), relation)
        if effects.returns and not effects.returns_new:
            found -= self.fresh(node)
        if effects.returns_held is not None:
            found.add(Ref(self.held_by_callee(node, node.func), effects.returns_held))
        return frozenset(found)

    # Stores -------------------------------------------------------------------------------------

    def unpacked(self, value: ast.expr, definition: Definition) -> Refs:
        return self.elements(self.value(value), value)

    def iterated(self, iterable: ast.expr, definition: Definition) -> Refs:
        held = self.elements(self.value(iterable), iterable)
        target = getattr(definition.statement, "target", None)
        return held if isinstance(target, ast.Name) else held | _contents(held)

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
                if isinstance(node, ast.Call) and _called(node.func) in STORING:
                    self._put(node)

    def _store(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else None
            for index, part in enumerate(target.elts):
                known = parts is not None and len(parts) == len(target.elts)
                if parts is not None and known:
                    self._store(part, parts[index])
        elif isinstance(target, ast.Attribute):
            for memory in self.field(self.value(target.value), ast.unparse(target), target.attr):
                memory.put(self.value(value), self._statement)
        elif isinstance(target, ast.Subscript):
            if is_tensor(self._flow.symbols.type(target.value)):
                return  # copies the value
            for ref in self.value(target.value):
                ref.memory.put(self.value(value), self._statement)

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


def _is_plain_value(value: Value) -> bool:
    if isinstance(value, Known):
        return True
    if isinstance(value, ListOf):
        return value.kind == "Size"
    return isinstance(value, Instance) and isinstance(value.cls, str) and value.cls in _PLAIN


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _passes_values(node: ast.Call) -> bool:
    return bool(node.args or node.keywords)
