"""What an expression can be, as far as reading the source tells: the plain values, and those that
are made of the program's own functions and classes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from migrate.resolve.plain_values import (
    BOOL,
    FLOAT,
    FOREIGN,
    INT,
    MODULE,
    NONE,
    NUMBER,
    OTHER_FRAMEWORKS,
    PARAMETER,
    SIZE,
    STR,
    TENSOR,
    UNKNOWN,
    CallableOf,
    ClassNameOf,
    ClassOf,
    External,
    Foreign,
    Instance,
    Known,
    ListOf,
    TupleOf,
    Union,
    Value,
    external,
    instance,
    is_foreign,
    is_packed,
    is_tensor,
    join,
    options_of,
    same,
    says_nothing,
    type_of_constant,
    without_none,
)

if TYPE_CHECKING:
    from migrate.resolve.module_scope import ModuleScope

__all__ = [
    "BOOL",
    "FLOAT",
    "FOREIGN",
    "INT",
    "MODULE",
    "NONE",
    "NUMBER",
    "OTHER_FRAMEWORKS",
    "PARAMETER",
    "SIZE",
    "STR",
    "TENSOR",
    "UNKNOWN",
    "CallableOf",
    "ClassNameOf",
    "ClassOf",
    "Container",
    "External",
    "Foreign",
    "Instance",
    "Known",
    "ListOf",
    "MemberOf",
    "Method",
    "ProjectClass",
    "ProjectFunction",
    "ProjectModule",
    "SuperOf",
    "TupleOf",
    "Union",
    "Value",
    "external",
    "instance",
    "is_foreign",
    "is_packed",
    "is_tensor",
    "join",
    "matters_to_readers",
    "options_of",
    "same",
    "says_nothing",
    "type_of_constant",
    "without_none",
]


class Container(Instance):
    """A ModuleList, Sequential or ModuleDict that is made here, with what was seen put into it."""

    __slots__ = ("members", "others")
    is_distinct = True

    def __init__(self, cls: str) -> None:
        super().__init__(cls)
        self.members: dict[str, Value] = {}
        self.others: Value | None = None  # what has no known name in it

    def put(self, value: Value, name: str = "") -> None:
        if name:
            self.members[name] = join(self.members.get(name, value), value)
        else:
            self.others = value if self.others is None else _with(self.others, value)

    def get(self, name: str) -> Value:
        if name.startswith("-") and self.others is None:
            position = len(self.members) + int(name)
            name = list(self.members)[position] if position >= 0 else name
        return self.members.get(name, UNKNOWN) if self.others is None else self.item

    @property
    def item(self) -> Value:
        """Any of its members; only a module, if one of them is not known."""
        values = [*self.members.values(), *([] if self.others is None else [self.others])]
        result: Value = values[0] if values else MODULE
        for value in values[1:]:
            result = _with(result, value)
        return MODULE if result is UNKNOWN else result


def _with(left: Value, right: Value) -> Value:
    """Either of two, unknown if one is."""
    return UNKNOWN if left is UNKNOWN or right is UNKNOWN else join(left, right)


class ProjectModule(Value):
    """A module of the program itself."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class MemberOf(Value):
    """A member of a module of the program that is chosen by name: `models.__dict__[name]`."""

    __slots__ = ("module",)

    def __init__(self, module: str) -> None:
        self.module = module


_NONE_STATED: frozenset[str] = frozenset()  # an empty set for each function takes 200 bytes


class ProjectFunction(Value):
    """A function of the program; its body is looked at once, when first needed."""

    __slots__ = (
        "bound",
        "called",
        "callers",
        "done",
        "frame",
        "hints",
        "module",
        "node",
        "owner",
        "passes",
        "qualified",
        "result",
        "running",
        "seen",
        "stale",
        "stated",
    )

    def __init__(
        self, node: Any, module: ModuleScope, frame: Any, qualified: str, owner: ProjectClass | None
    ) -> None:
        self.node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda = node
        self.module = module
        self.frame = frame
        self.qualified = qualified
        self.owner = owner
        self.hints: dict[str, Value] = {}
        self.passes: str | None = None  # the parameter it gives back, once looked for
        self.called: frozenset[str] | None = None  # the names that its body calls, once looked for
        self.result: Value = UNKNOWN
        self.done = False
        self.running = False
        self.seen: dict[str, Value] = {}  # the hints that its body was looked at with
        self.bound: dict[str, Value] = {}  # what its parameters were then
        self.stale = False  # an attribute or a result that it reads was understood afterwards
        self.callers: set[ProjectFunction] = set()  # that were given what it gave so far
        self.stated = _NONE_STATED  # parameters of which the annotation says what they are


_NO_CONSEQUENCES = frozenset({Value, Known, External, TupleOf, ListOf})


def matters_to_readers(value: Value) -> bool:
    """A tensor, or a function of the program: what is done with it has consequences."""
    if value.__class__ in _NO_CONSEQUENCES:
        return False
    return any(
        is_tensor(option) or isinstance(option, (ProjectFunction, Method))
        for option in options_of(value)
    )


class ProjectClass(Value):
    """A class of the program, with what its body and its methods bind."""

    __slots__ = (
        "_bases",
        "_find_bases",
        "_is_finding",
        "_lineage",
        "attributes",
        "body",
        "module",
        "node",
        "prepared",
        "qualified",
        "readers",
    )

    def __init__(self, node: ast.ClassDef, module: ModuleScope, qualified: str) -> None:
        self.node = node
        self.module = module
        self.qualified = qualified
        self._bases: list[Value] = []
        self._find_bases: Callable[[], list[Value]] | None = None
        self._is_finding = False
        self._lineage: tuple[ProjectClass | str, ...] | None = None
        self.body: dict[str, Value] = {}
        self.attributes: dict[str, Value] = {}  # assigned on self
        self.readers: dict[str, list[ProjectFunction]] = {}  # attribute -> who has read it
        self.prepared = False

    def learn(self, name: str, value: Value) -> None:
        """An attribute that some method gives to self. Whoever read it before it is found to be a
        tensor (`self.mask = None` in the constructor) or something to call is looked at again.
        """
        old = self.attributes.get(name, UNKNOWN)
        new = self.attributes[name] = join(old, value)
        if new is not old and matters_to_readers(new) and not matters_to_readers(old):
            for function in self.readers.pop(name, ()):
                function.stale = True

    def clear(self) -> None:
        """Forget all members: nobody will ask for them again."""
        self._bases, self._find_bases, self._lineage = [], None, None
        self.body, self.attributes, self.readers = {}, {}, {}

    def defer_bases(self, find: Callable[[], list[Value]]) -> None:
        """Leave the bases until someone asks: finding them may mean reading another file."""
        self._find_bases, self._lineage = find, None

    @property
    def bases(self) -> list[Value]:
        if self._find_bases is not None:
            find, self._find_bases = self._find_bases, None
            self._is_finding = True
            self._bases = find()
            self._is_finding = False
        return self._bases

    def lineage(self) -> tuple[ProjectClass | str, ...]:
        """This class, then its bases depth first: project classes and library names."""
        if self._lineage is None:
            found = self._depth_first()
            if any(isinstance(base, ProjectClass) and base._is_finding for base in found):
                return found  # not all of its bases are known yet
            self._lineage = found
        return self._lineage

    def _depth_first(self) -> tuple[ProjectClass | str, ...]:
        found: list[ProjectClass | str] = []
        pending: list[Value] = [self]
        while pending:
            value = pending.pop(0)
            if isinstance(value, ProjectClass) and value not in found:
                found.append(value)
                pending = list(value.bases) + pending
            elif isinstance(value, External) and value.name not in found:
                found.append(value.name)
        return tuple(found)

    def library_bases(self) -> list[str]:
        return [base for base in self.lineage() if isinstance(base, str)]


class Method(Value):
    """An attribute of an instance that may be called: a project function or a library name, with
    its receiver.
    """

    __slots__ = ("function", "receiver")

    def __init__(self, receiver: Value, function: ProjectFunction | str) -> None:
        self.receiver = receiver
        self.function = function


class SuperOf(Value):
    """super() in a method of a class."""

    __slots__ = ("cls",)

    def __init__(self, cls: ProjectClass) -> None:
        self.cls = cls
