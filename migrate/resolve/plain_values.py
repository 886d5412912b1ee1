"""What an expression can be: values that do not depend on the program's own code, and how two of
them are joined.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from migrate.resolve.values import ProjectClass


class Value:
    """Base of all abstract values; the plain base itself stands for 'not known'."""

    __slots__ = ()
    is_distinct: ClassVar[bool] = False  # two of its kind are never the same

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


class CallableOf(Value):
    """Something callable of which only the result is known (Callable[..., nn.Module],
    functools.partial).
    """

    __slots__ = ("result",)

    def __init__(self, result: Value) -> None:
        self.result = result


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
_NO_TENSORS = frozenset({Value, Known, External, TupleOf, ListOf})


def options_of(value: Value) -> tuple[Value, ...]:
    return value.options if value.__class__ is Union else (value,)


def same(left: Value, right: Value) -> bool:
    if left is right:
        return True
    if left.__class__ is not right.__class__:
        return False
    if isinstance(left, Known) and isinstance(right, Known):
        return type(left.value) is type(right.value) and bool(left.value == right.value)
    if left.is_distinct:
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
    if left.__class__ is Union:
        if right in left.options:
            return left
    elif right.__class__ is not Union and same(left, right):
        return left
    options = list(options_of(left))
    for value in options_of(right):
        if not any(same(value, option) for option in options):
            options.append(value)
    options = _without_constants(options)
    if len(options) == 1:
        return options[0]
    return Union(tuple(options)) if len(options) <= _UNION_LIMIT else UNKNOWN


def _without_constants(options: list[Value]) -> list[Value]:
    """Of two different constants, their types only."""
    constants = [
        option for option in options if option.__class__ is Known and option.value is not None
    ]
    if len(constants) < 2:
        return options
    left = [option for option in options if option not in constants]
    for constant in constants:
        kind = type_of_constant(constant)
        if not any(same(kind, option) for option in left):
            left.append(kind)
    return left


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
    return NONE if value.value is None else _of_builtin(value.value.__class__)


@cache
def _of_builtin(kind: type) -> Instance:
    return instance(f"builtins.{kind.__name__}")


def is_packed(value: Value) -> bool:
    """A PackedSequence, and nothing else."""
    return isinstance(value, Instance) and value.cls == "torch.nn.utils.rnn.PackedSequence"


def is_foreign(value: Value) -> bool:
    """Certainly of another framework: what it made, or what is annotated with its classes."""
    if value is FOREIGN or value is TENSOR or not isinstance(value, (Instance, Union)):
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
