"""What an expression can be, as far as reading the source tells."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from migrate.resolve.modules import ModuleScope


class Value:
    """Base of all abstract values; the plain base itself stands for 'not known'."""

    __slots__ = ()

    def __repr__(self) -> str:
        names: tuple[str, ...] = self.__slots__
        fields = ", ".join(repr(getattr(self, name, None)) for name in names)
        return f"{type(self).__name__}({fields})"


UNKNOWN = Value()


class Foreign(Value):
    """What another framework made: `flow.zeros(2)`, `jnp.ones(3)`, `ops.relu(x)` of MindSpore.

    Never a tensor of torch's, whatever its methods are called. It is known of a name only while no
    branch says otherwise: joined with anything it is not known.
    """

    __slots__ = ()


FOREIGN = Foreign()
# What they make is no tensor of torch's.
OTHER_FRAMEWORKS = frozenset(
    """
    caffe2 chainer cntk cupy equinox flax haiku jax keras mindspore mlx ms_migrate_helpers mxnet
    oneflow optax paddle tensorflow tf_keras theano tinygrad
    """.split()  # noqa: SIM905 - a list would take a line for each name
)


class External(Value):
    """A module, class, function or constant of a library, by its dotted name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Instance(Value):
    """An object of a class: a library's (by dotted name) or the project's."""

    __slots__ = ("cls",)

    def __init__(self, cls: str | ProjectClass) -> None:
        self.cls = cls


class Container(Instance):
    """A ModuleList, Sequential or ModuleDict that is made here, with what was seen put into it."""

    __slots__ = ("members", "others")

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


class ClassOf(Value):
    """`type(m)` or `m.__class__`, for a variable m."""

    __slots__ = ("variable",)

    def __init__(self, variable: str) -> None:
        self.variable = variable


class ClassNameOf(Value):
    """`m.__class__.__name__`: the variable, and the expression that asked."""

    __slots__ = ("node", "variable")

    def __init__(self, variable: str, node: ast.expr) -> None:
        self.variable = variable
        self.node = node


class Known(Value):
    """A Python constant."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class TupleOf(Value):
    """A tuple or list whose items are known one by one."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Value, ...]) -> None:
        self.items = items


class ListOf(Value):
    """Any iterable of like items.

    `kind` says which: list, tuple, iterator, Size, dict (its values).
    """

    __slots__ = ("item", "kind")

    def __init__(self, item: Value, kind: str = "list") -> None:
        self.item = item
        self.kind = kind


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


class ProjectFunction(Value):
    """A function of the program; its body is looked at once, when first needed."""

    __slots__ = (
        "bound",
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
        self.result: Value = UNKNOWN
        self.done = False
        self.running = False
        self.seen: dict[str, Value] = {}  # the hints that its body was looked at with
        self.bound: dict[str, Value] = {}  # what its parameters were then
        self.stale = False  # an attribute that it reads was understood afterwards
        self.stated: set[str] = set()  # parameters of which the annotation says what they are


def matters_to_readers(value: Value) -> bool:
    """A tensor, or a function of the program: what is done with it has consequences."""
    return any(
        is_tensor(option) or isinstance(option, ProjectFunction | Method)
        for option in options_of(value)
    )


class ProjectClass(Value):
    """A class of the program, with what its body and its methods bind."""

    __slots__ = (
        "_bases",
        "_find_bases",
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
        if matters_to_readers(new) and not matters_to_readers(old):
            for function in self.readers.pop(name, ()):
                function.stale = True

    def defer_bases(self, find: Callable[[], list[Value]]) -> None:
        """Leave the bases until someone asks: finding them may mean reading another file."""
        self._find_bases = find

    @property
    def bases(self) -> list[Value]:
        if self._find_bases is not None:
            find, self._find_bases = self._find_bases, None
            self._bases = find()
        return self._bases

    def lineage(self) -> list[ProjectClass | str]:
        """This class, then its bases depth first: project classes and library names."""
        found: list[ProjectClass | str] = []
        pending: list[Value] = [self]
        while pending:
            value = pending.pop(0)
            if isinstance(value, ProjectClass) and value not in found:
                found.append(value)
                pending = list(value.bases) + pending
            elif isinstance(value, External) and value.name not in found:
                found.append(value.name)
        return found

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


class CallableOf(Value):
    """Something callable of which only the result is known (Callable[..., nn.Module],
    functools.partial).
    """

    __slots__ = ("result",)

    def __init__(self, result: Value) -> None:
        self.result = result


class SuperOf(Value):
    """super() in a method of a class."""

    __slots__ = ("cls",)

    def __init__(self, cls: ProjectClass) -> None:
        self.cls = cls


class Union(Value):
    """One of a few values."""

    __slots__ = ("options",)

    def __init__(self, options: tuple[Value, ...]) -> None:
        self.options = options


_externals: dict[str, External] = {}
_instances: dict[str, Instance] = {}


def external(name: str) -> External:
    found = _externals.get(name)
    if found is None:
        found = _externals[name] = External(name)
    return found


def instance(cls: str) -> Instance:
    found = _instances.get(cls)
    if found is None:
        found = _instances[cls] = Instance(cls)
    return found


NONE = Known(None)
TENSOR = instance("torch.Tensor")
PARAMETER = instance("torch.nn.Parameter")
MODULE = instance("torch.nn.Module")
INT = instance("builtins.int")
FLOAT = instance("builtins.float")
NUMBER = instance("builtins.number")
BOOL = instance("builtins.bool")
STR = instance("builtins.str")
SIZE = ListOf(INT, "Size")
_UNION_LIMIT = 16
_NO_TENSORS = frozenset({Value, Known, External, TupleOf, ListOf, Method, ProjectClass})


def options_of(value: Value) -> tuple[Value, ...]:
    return value.options if value.__class__ is Union else (value,)


def same(left: Value, right: Value) -> bool:
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, Known) and isinstance(right, Known):
        return type(left.value) is type(right.value) and bool(left.value == right.value)
    if isinstance(left, Container):
        return False  # each holds its own
    if isinstance(left, Instance) and isinstance(right, Instance):
        return left.cls is right.cls or left.cls == right.cls
    if isinstance(left, ListOf) and isinstance(right, ListOf):
        return left.kind == right.kind and same(left.item, right.item)
    if isinstance(left, TupleOf) and isinstance(right, TupleOf):
        return len(left.items) == len(right.items) and all(map(same, left.items, right.items))
    if isinstance(left, CallableOf) and isinstance(right, CallableOf):
        return same(left.result, right.result)
    return False


def join(left: Value, right: Value) -> Value:
    """Either of two.

    What is not known yields to what is, since a Python name mostly keeps one type.
    """
    if left is right or right is UNKNOWN or right is FOREIGN:
        return UNKNOWN if left is FOREIGN and right is not FOREIGN else left
    if left is UNKNOWN or left is FOREIGN:
        return right
    options = list(options_of(left))
    for value in options_of(right):
        if not any(same(value, option) for option in options):
            options.append(value)
    constants = [
        option for option in options if isinstance(option, Known) and option.value is not None
    ]
    if len(constants) > 1:
        # Two different constants of one type: keep the type only.
        for constant in constants:
            options.remove(constant)
        for constant in constants:
            kind = type_of_constant(constant)
            if not any(same(kind, option) for option in options):
                options.append(kind)
    if len(options) == 1:
        return options[0]
    return Union(tuple(options)) if len(options) <= _UNION_LIMIT else UNKNOWN


def says_nothing(value: Value) -> bool:
    """Not known, of another framework, or the None that something will replace."""
    return value in (UNKNOWN, FOREIGN) or (isinstance(value, Known) and value.value is None)


def without_none(value: Value) -> Value:
    """What is left once a test has excluded None."""
    if not isinstance(value, Union):
        return UNKNOWN if isinstance(value, Known) and value.value is None else value
    options = tuple(o for o in value.options if not (isinstance(o, Known) and o.value is None))
    return options[0] if len(options) == 1 else Union(options)


def type_of_constant(value: Known) -> Value:
    return value if value.value is None else instance(f"builtins.{type(value.value).__name__}")


def is_packed(value: Value) -> bool:
    """A PackedSequence, and nothing else."""
    return isinstance(value, Instance) and value.cls == "torch.nn.utils.rnn.PackedSequence"


def is_foreign(value: Value) -> bool:
    """Certainly of another framework: what it made, or what is annotated with its classes."""
    if value is FOREIGN or value is TENSOR or not isinstance(value, Instance | Union):
        return value is FOREIGN
    options = [o for o in options_of(value) if not (isinstance(o, Known) and o.value is None)]
    return bool(options) and all(
        isinstance(o, Instance)
        and isinstance(o.cls, str)
        and o.cls.partition(".")[0] in OTHER_FRAMEWORKS
        for o in options
    )


def is_tensor(value: Value) -> bool:
    """Certainly a tensor (or a Parameter, or None in its place)."""
    if value is TENSOR or value is PARAMETER:
        return True
    if value.__class__ in _NO_TENSORS:
        return False
    options = [o for o in options_of(value) if not (isinstance(o, Known) and o.value is None)]
    return bool(options) and all(
        isinstance(o, Instance) and o.cls in ("torch.Tensor", "torch.nn.Parameter") for o in options
    )
