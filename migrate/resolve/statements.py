"""Execute statements abstractly: bindings, branches, functions and classes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, ClassVar

from migrate.resolve.budget import BudgetSpent, steps_for
from migrate.resolve.calls import Calls
from migrate.resolve.containers import set_item
from migrate.resolve.evict_bodies import restore
from migrate.resolve.frames import Frame, State
from migrate.resolve.hierarchy import is_bare_optimizer, skips_base
from migrate.resolve.import_binding import bind_import, bind_import_from
from migrate.resolve.items import filled
from migrate.resolve.module_scope import ModuleScope
from migrate.resolve.narrowing import narrow
from migrate.resolve.types import item_of
from migrate.resolve.unpacking import unpacked
from migrate.resolve.values import (
    TENSOR,
    UNKNOWN,
    External,
    Instance,
    Known,
    ListOf,
    ProjectClass,
    ProjectFunction,
    Value,
    is_tensor,
    join,
    options_of,
    says_nothing,
)

_EXECUTORS: dict[type[ast.AST], str] = {
    ast.Assign: "_assign",
    ast.AugAssign: "_augmented",
    ast.AnnAssign: "_annotated",
    ast.Return: "_return",
    ast.If: "_if",
    ast.For: "_for",
    ast.AsyncFor: "_for",
    ast.While: "_while",
    ast.With: "_with",
    ast.AsyncWith: "_with",
    ast.Try: "_try",
    ast.TryStar: "_try",
    ast.FunctionDef: "_function",
    ast.AsyncFunctionDef: "_function",
    ast.ClassDef: "_class",
    ast.ImportFrom: "_import_from",
    ast.Assert: "_assert",
    ast.Match: "_match",
    ast.Expr: "_discard",
    ast.Import: "_import",
    ast.Global: "_global",
}


class Statements(Calls):
    """Statement half of the interpreter."""

    main: ModuleScope  # the file in hand
    _executors: ClassVar[dict[type[ast.AST], Callable[[Any, Any], None]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._executors = {kind: getattr(cls, name) for kind, name in _EXECUTORS.items()}

    def __init__(self) -> None:
        super().__init__()
        self.returns: list[Value] = []
        self.yields: list[Value] = []
        self.steps_left = steps_for(0)

    def execute(self, body: list[ast.stmt]) -> None:
        self.steps_left -= len(body)
        if self.steps_left < 0:
            raise BudgetSpent(self.main.source)
        executors = self._executors
        for statement in body:
            executor = executors.get(statement.__class__)
            if executor is not None:
                executor(self, statement)
            else:
                for child in ast.iter_child_nodes(statement):
                    if isinstance(child, ast.expr):
                        self.evaluate(child)

    def narrow(self, test: ast.expr, truth: bool) -> None:
        narrow(self, test, truth)

    def yielded(self, value: Value) -> None:
        self.yields.append(value)

    # Bindings -----------------------------------------------------------------------------------

    def _discard(self, node: ast.Expr) -> None:
        self.evaluate(node.value)

    def _import(self, node: ast.Import) -> None:
        bind_import(node, self.frame, self.modules, self.module.source)

    def _global(self, node: ast.Global) -> None:
        self.frame.globals.update(node.names)

    def _assign(self, node: ast.Assign) -> None:
        if isinstance(node.targets[0], (ast.Tuple, ast.List)):
            self._believe_sized(node.value)
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        stated = self.annotation(node.annotation)
        value = self.evaluate(node.value) if node.value is not None else UNKNOWN
        if node.value is not None or isinstance(node.target, ast.Name):
            # The value's own type says more than `nn.Module` does; where it says nothing, believe
            # the annotation.
            self.assign(node.target, stated if says_nothing(value) else value)

    def _augmented(self, node: ast.AugAssign) -> None:
        value = self.evaluate(node.value)
        before = self.evaluate(_as_load(node.target))
        result = before  # a tensor changes itself, and stays the Parameter that it may be
        if is_tensor(value) and not is_tensor(before):
            result = TENSOR
        if self.types is not None:
            self.types[node] = before  # what the statement changes, or replaces
        self.assign(node.target, result)

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.frame.bind(target.id, value)
            self.frame.believed.discard(target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, value)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            set_item(self.evaluate(target.value), self.evaluate(target.slice), value)
            self._fill(target.value, value)
        if self.types is not None:
            self.types[target] = value

    def _fill(self, owner: ast.expr, value: Value) -> None:
        """`rows[i][j] = value`, where rows was made of None."""
        depth = 1
        while isinstance(owner, ast.Subscript):
            depth, owner = depth + 1, owner.value
        if isinstance(owner, ast.Name) and owner.id in self.frame.locals:
            held = self.frame.locals[owner.id]
            self.frame.locals[owner.id] = filled(held, value, depth)

    def _unpack(self, targets: list[ast.expr], value: Value) -> None:
        for target, given in unpacked(targets, value):
            if isinstance(target, ast.Starred):
                self.assign(target.value, ListOf(given))
            else:
                self.assign(target, given)

    def _assign_attribute(self, target: ast.Attribute, value: Value) -> None:
        owner, direct = self.base(target.value)
        if self.types is not None:
            self.types[target.value] = owner
        name = getattr(owner, "name", "")
        if direct and name:
            self.record(target, f"{name}.{target.attr}", "attribute")
            return
        of_libraries: Value = UNKNOWN
        for option in options_of(owner):
            if isinstance(option, Instance) and isinstance(option.cls, ProjectClass):
                option.cls.learn(target.attr, value)
            elif isinstance(option, Instance):
                of_libraries = join(of_libraries, option)
        if of_libraries is not UNKNOWN:
            self.attribute(target, of_libraries, "attribute")

    def _import_from(self, node: ast.ImportFrom) -> None:
        bind_import_from(node, self.frame, self.modules, self.module.source)

    # Control flow -------------------------------------------------------------------------------

    def _branches(self, *bodies: Callable[[], None]) -> None:
        """Run each on its own copy of what is known, then join."""
        frame = self.frame
        before = frame.snapshot()
        merged: State | None = None
        believed, frame.believed = frame.believed, set()
        for body in bodies:
            frame.restore(before)
            body()
            if merged is not None:
                frame.merge(merged)
            merged = frame.locals, frame.imports
        frame.believed |= believed

    def _if(self, node: ast.If) -> None:
        self.evaluate(node.test)

        def then() -> None:
            self.narrow(node.test, True)
            self.execute(node.body)

        def otherwise() -> None:
            self.narrow(node.test, False)
            self.execute(node.orelse)

        if _leaves(node.body) and not node.orelse:
            # `if x is None: return ...` says something about all that follows.
            before = self.frame.snapshot()
            then()
            self.frame.restore(before)
            self.narrow(node.test, False)
            return
        self._branches(then, otherwise)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        item = item_of(self.evaluate(node.iter))

        def body() -> None:
            self.assign(node.target, item)
            self.execute(node.body)

        self._branches(lambda: None, body)
        self.execute(node.orelse)

    def _while(self, node: ast.While) -> None:
        self.evaluate(node.test)
        self._branches(lambda: None, lambda: self.execute(node.body))
        self.execute(node.orelse)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            value = self.evaluate(item.context_expr)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
        self.execute(node.body)

    def _try(self, node: ast.Try) -> None:
        self.execute(node.body)
        for handler in node.handlers:
            if handler.type is not None:
                self.evaluate(handler.type)
            if handler.name:
                self.frame.bind(handler.name, UNKNOWN)
            before = self.frame.snapshot()
            self.execute(handler.body)
            # What the body bound stays; a handler only adds what the body did not.
            self.frame.merge(before)
        self.execute(node.orelse)
        self.execute(node.finalbody)

    def _assert(self, node: ast.Assert) -> None:
        self.evaluate(node.test)
        if node.msg is not None:
            self.evaluate(node.msg)
        self.narrow(node.test, True)

    def _match(self, node: ast.Match) -> None:
        self.evaluate(node.subject)
        for case in node.cases:
            for part in ast.walk(case.pattern):
                if isinstance(part, ast.MatchClass) and isinstance(
                    part.cls, (ast.Name, ast.Attribute)
                ):
                    self.reference(part.cls, "type")
                elif isinstance(part, ast.MatchValue):
                    self.evaluate(part.value)
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    self.frame.bind(name, UNKNOWN)
            if case.guard is not None:
                self.evaluate(case.guard)
            self.execute(case.body)

    def _return(self, node: ast.Return) -> None:
        self.returns.append(self.evaluate(node.value) if node.value is not None else Known(None))

    # Definitions --------------------------------------------------------------------------------

    def _decorators(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            if isinstance(decorator, (ast.Name, ast.Attribute)):
                self.reference(decorator, "decorator")
            else:
                self.evaluate(decorator)
        for parameter in getattr(node, "type_params", ()):  # of Python 3.12
            self.annotation(getattr(parameter, "bound", None))
            self.annotation(getattr(parameter, "default_value", None))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._decorators(node)
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.evaluate(default)
        qualified = f"{self.frame.scope}.{node.name}".lstrip(".")
        function = ProjectFunction(node, self.module, self.frame, qualified, self.frame.cls)
        self.module.functions.append(function)
        self.frame.bind(node.name, function)

    def base_classes(self, node: ast.ClassDef) -> list[Value]:
        bases = [
            self.reference(base, "base")
            if isinstance(base, (ast.Name, ast.Attribute))
            else self.evaluate(base)
            for base in node.bases
        ]
        if len(bases) == 1 and isinstance(bases[0], External) and is_bare_optimizer(bases[0].name):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.body:
                    restore(method, self.module.source)
            return [] if skips_base(node) else bases
        return bases

    def _class(self, node: ast.ClassDef) -> None:
        self._decorators(node)
        qualified = f"{self.frame.scope}.{node.name}".lstrip(".")
        cls = ProjectClass(node, self.module, qualified)
        cls.bases.extend(self.base_classes(node))  # before anyone can ask for the lineage
        for keyword in node.keywords:
            self.evaluate(keyword.value)
        outer, self.frame = self.frame, Frame(self.frame, qualified, cls=cls)
        self.execute(node.body)
        cls.body = {**self.frame.imports, **self.frame.locals}
        self.frame = outer
        self.module.classes.append(cls)
        self.frame.bind(node.name, cls)


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _as_load(target: ast.expr) -> ast.expr:
    return target
