"""Look up names and attributes, and record the torch APIs they turn out to be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrate.resolve.builtin_results import dict_member
from migrate.resolve.evidence_scope import covers_all_reads
from migrate.resolve.frames import Frame
from migrate.resolve.hierarchy import ancestors, is_module
from migrate.resolve.image_results import IMAGE, image_member
from migrate.resolve.import_binding import Lazy
from migrate.resolve.module_scope import Deferred, ModuleScope
from migrate.resolve.modules import Modules
from migrate.resolve.numpy_results import array_member, is_numpy
from migrate.resolve.tensor_names import (
    MAPPING_METHODS,
    NAMED_RESULTS,
)
from migrate.resolve.types import from_word, is_library_layer
from migrate.resolve.usage import Usage
from migrate.resolve.values import (
    FOREIGN,
    PARAMETER,
    UNKNOWN,
    ClassNameOf,
    ClassOf,
    Container,
    Instance,
    Known,
    ListOf,
    MemberOf,
    Method,
    ProjectClass,
    ProjectFunction,
    ProjectModule,
    SuperOf,
    TupleOf,
    Value,
    is_foreign,
    is_tensor,
    join,
    matters_to_readers,
    options_of,
)

if TYPE_CHECKING:
    from migrate.table import Entry, Table


class Members:
    """State of the interpreter, and the meaning of names and attributes."""

    table: Table
    modules: Modules
    module: ModuleScope
    frame: Frame
    usages: dict[ast.AST, Usage]

    def __init__(self) -> None:
        self.types: dict[ast.AST, Value] | None = None
        # Annotations parsed from strings, with their text: usages refer to their nodes by identity.
        self.quoted: list[tuple[str, ast.expr]] = []
        self._quoted: dict[ast.Constant, ast.expr | None] = {}
        self.calling: dict[ast.AST, ast.Call] = {}  # function that is being looked up -> its call
        self._canonical: dict[str, str] = {}
        self._recorded_as: dict[str, str] = {}  # name -> that of the table; "" outside of it
        self._constants: dict[str, Value | None] = {}
        self._containers: dict[ast.AST, Container] = {}  # by the call that makes them
        self._called: dict[ast.AST, set[str]] = {}  # function or class -> what is called in it

    def narrow(self, test: ast.expr, truth: bool) -> None:
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Value) -> None:
        raise NotImplementedError

    def yielded(self, value: Value) -> None:
        raise NotImplementedError

    def run_function(self, function: ProjectFunction, hints: dict[str, Value]) -> Value:
        raise NotImplementedError

    def ensure_executed(self, scope: ModuleScope) -> None:
        raise NotImplementedError

    def settle(self, deferred: Deferred) -> Value:
        raise NotImplementedError

    # Names --------------------------------------------------------------------------------------

    def lookup(self, name: str) -> tuple[Value, bool]:
        value = self.frame.locals.get(name)
        if value is None:
            value, direct = self.frame.find(name)
        else:
            direct = False
        kind = value.__class__
        if kind is Lazy:
            return self.member_of_module(value.module, value.name)  # type: ignore[attr-defined]
        if kind is Deferred:
            return self.settle(value), False  # type: ignore[arg-type]
        return value, direct

    def member_of_module(
        self, module: str, name: str, passed: tuple[tuple[str, str], ...] = ()
    ) -> tuple[Value, bool]:
        """A name of a project module: what it binds, or a submodule.

        Direct when it only passes an import on.
        """
        if name == "__dict__":
            return ListOf(MemberOf(module), "dict"), False
        scope = self.modules.load(module, self.module.source)
        if scope is not None:
            self.ensure_executed(scope)
            frame = scope.frame
            if name in frame.locals:
                value = frame.locals[name]
                if type(value) is Deferred:
                    frame.locals[name] = UNKNOWN  # while it is being found out
                    value = frame.locals[name] = self.settle(value)
                return value, False
            if name in frame.imports:
                value = frame.imports[name]
                if type(value) is Lazy:
                    # Modules that import a name from each other lead round in a circle.
                    passed = (*passed, (module, name))
                    if (value.module, value.name) in passed:
                        return UNKNOWN, False
                    return self.member_of_module(value.module, value.name, passed)
                return value, True
        below = f"{module}.{name}"
        if self.modules.project.find(below, self.module.source) is not None:
            return ProjectModule(below), False
        return UNKNOWN, False

    def members_of_module(self, module: str) -> Iterator[Value]:
        """All that a module of the program defines or imports, one by one."""
        scope = self.modules.load(module, self.module.source)
        if scope is not None:
            self.ensure_executed(scope)
            for name in (*scope.frame.locals, *scope.frame.imports):
                yield self.member_of_module(module, name)[0]

    # Attributes ---------------------------------------------------------------------------------

    def attribute(self, node: ast.Attribute, owner: Value, form: str) -> Value:
        """A member of a value.

        Recorded when it is a torch API for every type the value can have.
        """
        name = node.attr
        if name == "__class__" and isinstance(node.value, ast.Name):
            return ClassOf(node.value.id)
        if name == "__name__" and isinstance(owner, ClassOf):
            if is_library_layer(self.lookup(owner.variable)[0]):
                self.record(node, "torch.nn.Module.__name__", "attribute")
            return ClassNameOf(owner.variable, node)
        if owner is UNKNOWN:
            return self.of_unknown(node, form)
        if is_foreign(owner):
            return FOREIGN
        result: Value = UNKNOWN
        found: list[str] = []
        for option in options_of(owner):
            if isinstance(option, Known):
                continue
            value, api = self.member(option, name)
            result = join(result, value)
            if api and api not in found:
                found.append(api)
        if found:
            self.record(node, found[0], "call" if form == "call" else "attribute", tuple(found[1:]))
        if name == "module" and found:
            return self._wrapped(owner) or result
        return result

    def _wrapped(self, owner: Value) -> Value | None:
        """The network in DistributedDataParallel(net): what else the wrapper's value can be."""
        result: Value | None = None
        for option in options_of(owner):
            if not self.is_wrapper(option):
                result = option if result is None else join(result, option)
        return result

    def is_wrapper(self, value: Value) -> bool:
        """An object of a class that calls the network that it was given."""
        cls = value.cls if isinstance(value, Instance) else None
        entry = self.table.get(cls) if isinstance(cls, str) else None
        return entry is not None and entry.kind == "class" and entry.main.returns == "{module}"

    def member(self, owner: Value, name: str) -> tuple[Value, str]:
        """The value of a member, and its torch name if torch defines it."""
        if isinstance(owner, Instance):
            return self._of_instance(owner, name)
        if isinstance(owner, SuperOf):
            return self._of_class(owner.cls, name, Instance(owner.cls), 1)
        if isinstance(owner, ProjectClass):
            return _unbound(self._of_class(owner, name, owner, 0)[0]), ""
        if isinstance(owner, ListOf) and owner.kind == "Size":
            return self.of_library("torch.Size", name, owner)
        if isinstance(owner, ListOf) and owner.kind == "dict":
            return dict_member(owner, name), ""
        if isinstance(owner, TupleOf) and name in NAMED_RESULTS:
            index = min(NAMED_RESULTS[name], len(owner.items) - 1)
            if any(map(is_tensor, owner.items)):
                return owner.items[index], f"torch.return_types.{name}"
        return UNKNOWN, ""

    def _of_instance(self, owner: Instance, name: str) -> tuple[Value, str]:
        if isinstance(owner.cls, ProjectClass):
            return self._of_class(owner.cls, name, owner, 0)
        if isinstance(owner, Container) and name in owner.members:
            return owner.get(name), ""
        if owner is IMAGE:
            return image_member(name), ""
        return self.of_library(owner.cls, name, owner)

    def find_row(self, cls: str, name: str) -> Entry | None:
        for ancestor in ancestors(self.canonical(cls)):
            entry = self.table.get(f"{ancestor}.{name}")
            if entry is not None:
                return entry
        return None

    def of_library(self, cls: str, name: str, receiver: Value) -> tuple[Value, str]:
        if is_numpy(cls):
            return array_member(name), ""
        if cls.partition(".")[0] not in self.table.roots:
            return UNKNOWN, ""
        if cls == "torch.Tensor" and name in MAPPING_METHODS:
            # A module's result was taken for a tensor, and is a dict.
            return UNKNOWN, ""
        entry = self.find_row(cls, name)
        if entry is None:
            # The table lists every member of Tensor: a stranger says that this is no tensor.
            return (PARAMETER if name in ("weight", "bias") else UNKNOWN), ""
        if entry.kind == "method":
            return Method(receiver, entry.torch), entry.torch
        if name == "data" and receiver is PARAMETER:
            return PARAMETER, entry.torch
        return from_word(entry.returns()), entry.torch

    def _of_class(
        self, cls: ProjectClass, name: str, receiver: Value, skip: int
    ) -> tuple[Value, str]:
        self.prepare(cls)
        for base in cls.lineage()[skip:]:
            if isinstance(base, str):
                value, api = self.of_library(base, name, receiver)
                if api:
                    return value, api
                continue
            if not skip and name in base.attributes:
                self._note_reader(base, name)
                return base.attributes[name], ""
            self.prepare(base)
            value = base.body.get(name, UNKNOWN)
            if type(value) is Deferred:
                value = base.body[name] = self.settle(value)
            if isinstance(value, ProjectFunction):
                if is_property(value):
                    return self.run_function(value, {}), ""
                return Method(receiver, value), ""
            if name in base.body or name in base.attributes:
                return base.attributes.get(name, value), ""
        self._note_reader(cls, name)
        return UNKNOWN, ""

    def _note_reader(self, cls: ProjectClass, name: str) -> None:
        """The function in hand has read an attribute that may turn out to be more."""
        function = self.frame.function
        if function is not None and not matters_to_readers(cls.attributes.get(name, UNKNOWN)):
            readers = cls.readers.setdefault(name, [])
            if function not in readers:
                readers.append(function)

    def prepare(self, cls: ProjectClass) -> None:
        """Look at __init__ before anything asks what the instance's attributes are."""
        if not cls.prepared:
            cls.prepared = True
            for base in cls.bases:
                if isinstance(base, ProjectClass):
                    self.prepare(base)
            init = cls.body.get("__init__")
            if isinstance(init, ProjectFunction):
                self.run_function(init, {})

    def of_unknown(self, node: ast.Attribute, form: str) -> Value:
        raise NotImplementedError

    def believe(self, node: ast.expr, value: Value) -> None:
        """Take a name for what its use proves it to be: from here on to the end of the branch, and
        in all of the function where that use is always reached.
        """
        frame = self.frame
        if not isinstance(node, ast.Name) or frame.locals.get(node.id) is not UNKNOWN:
            return
        frame.locals[node.id] = value
        frame.believed.add(node.id)
        function = frame.function
        if function is None or node.id not in function.bound or node.id in function.hints:
            return
        body = function.node
        if isinstance(body, ast.Lambda) or covers_all_reads(body, node.id, node):
            function.hints[node.id] = value

    # Recording ----------------------------------------------------------------------------------

    def canonical(self, name: str) -> str:
        known = self._canonical.get(name)
        if known is None:
            known = self._canonical[name] = self.table.canonical(name)
        return known

    def constant(self, api: str) -> Value | None:
        """What a library's name holds, where that is a plain value and no namespace."""
        if api not in self._constants:
            self._constants[api] = self._constant_of(api)
        return self._constants[api]

    def _constant_of(self, api: str) -> Value | None:
        entry = self.table.get(api) if api.partition(".")[0] in self.table.roots else None
        if entry is None or entry.kind not in ("constant", "dtype"):
            return None
        return from_word(entry.returns() or ("dtype" if entry.kind == "dtype" else ""))

    def record(
        self, node: ast.expr, api: str, form: str, alternatives: tuple[str, ...] = ()
    ) -> None:
        """Note one use.

        A later look at the same node, with better knowledge, replaces the earlier.
        """
        recorded = self._recorded_as.get(api)
        if recorded is None:
            listed = api.partition(".")[0] in self.table.roots
            recorded = self._recorded_as[api] = self.canonical(api) if listed else ""
        if not recorded:
            return
        self.usages[node] = Usage(
            recorded,
            form,
            node.lineno,
            node.col_offset,
            node.end_lineno or node.lineno,
            node.end_col_offset or node.col_offset,
            self.frame.scope,
            node,
            None,
            tuple(map(self.canonical, alternatives)) if alternatives else (),
        )


def _unbound(value: Value) -> Value:
    """A method as its class has it: the function."""
    if isinstance(value, Method) and isinstance(value.function, ProjectFunction):
        return value.function
    return value


def is_property(function: ProjectFunction) -> bool:
    decorators = getattr(function.node, "decorator_list", ())
    return any(
        (isinstance(d, ast.Name) and d.id in ("property", "cached_property"))
        or (isinstance(d, ast.Attribute) and d.attr in ("cached_property", "setter"))
        for d in decorators
    )


def all_ancestors(cls: ProjectClass) -> set[str]:
    return {name for base in cls.library_bases() for name in ancestors(base)}


def class_is_module(cls: ProjectClass) -> bool:
    return "torch.nn.Module" in all_ancestors(cls) or is_mixed_in(cls)


def is_mixed_in(cls: ProjectClass) -> bool:
    """A plain class with a forward, which a Module of its file has among its bases."""
    return "forward" in cls.body and any(
        cls in other.lineage() and "torch.nn.Module" in all_ancestors(other)
        for other in cls.module.classes
        if other is not cls
    )


def is_module_value(value: Value) -> bool:
    """An instance of an nn.Module, or super() in one."""
    for option in options_of(value):
        if isinstance(option, SuperOf) and class_is_module(option.cls):
            return True
        if isinstance(option, Instance):
            cls = option.cls
            if class_is_module(cls) if isinstance(cls, ProjectClass) else is_module(cls):
                return True
    return False
