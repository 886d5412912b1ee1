"""Arguments and parameters: which form of an overloaded API a call is, what a function is given."""

from __future__ import annotations

import ast
from collections.abc import Collection

from migrate.resolve.values import (
    BOOL,
    NUMBER,
    UNKNOWN,
    Instance,
    Known,
    ListOf,
    ProjectFunction,
    TupleOf,
    Value,
    options_of,
    says_nothing,
    type_of_constant,
)
from migrate.table import Entry, Overload
from migrate.table.signature import Parameter, Signature

_TYPE_NAMES = {
    "numpy.ndarray": {"ndarray", "sequence"},
    "numpy.generic": {"ndarray", "sequence", "int", "float", "number"},
    "builtins.int": {"int", "number"},
    "builtins.bool": {"bool", "int", "number"},
    "builtins.float": {"float", "number"},
    "builtins.number": {"int", "float", "number"},
    "builtins.str": {"str"},
    "torch.Tensor": {"Tensor"},
    "torch.nn.Parameter": {"Tensor"},
    "torch.dtype": {"dtype"},
    "torch.device": {"device"},
}


def fitting_overloads(
    entry: Entry,
    values: list[Value],
    keywords: dict[str | None, Value],
    node: ast.Call | None = None,
) -> list[Overload]:
    """The forms this call can be; one for nearly every call."""
    if len(entry.overloads) == 1:
        return list(entry.overloads)
    starred = node is not None and has_stars(node)
    return [
        o
        for o in entry.overloads
        if o.signature is None or fits(o.signature, values, keywords, starred)
    ]


def has_stars(call: ast.Call) -> bool:
    """`f(*args)`, `f(**options)`: what is passed is known at run time."""
    for argument in call.args:
        if argument.__class__ is ast.Starred:
            return True
    return bool(call.keywords) and any(keyword.arg is None for keyword in call.keywords)


def fits(
    signature: Signature, values: list[Value], keywords: dict[str | None, Value], starred: bool
) -> bool:
    """The arguments can be bound, and no known type contradicts."""
    positional = signature.positional
    given: dict[str, Value] = {}
    for index, value in enumerate(values):
        if index < len(positional):
            given[positional[index].name] = value
        elif signature.varargs is None or not accepts(signature.varargs, value):
            return False
        elif value is BOOL and signature.varargs.type == "int":
            return False  # no size is a truth: what was compared is an array
    for name, value in keywords.items():
        if name is None:
            continue
        if name in given or (signature.get(name) is None and signature.varkwargs is None):
            return False
        given[name] = value
    for parameter in signature.parameters:
        if parameter.name in given:
            if not accepts(parameter, given[parameter.name]):
                return False
        elif parameter.required and not starred:
            return False
    return True


def accepts(parameter: Parameter, value: Value) -> bool:
    """No known type of the value contradicts the parameter's annotation."""
    if not parameter.type or value is UNKNOWN:
        return True
    wanted = parameter.type_words
    return any(not wanted.isdisjoint(type_words(option)) for option in options_of(value))


def certain(parameter: Parameter, value: Value, exact: bool = False) -> bool:
    """The annotation is met for sure, not merely not contradicted. `exact` tells whole numbers from
    others: what `x.item()` gives may be either.
    """
    if not parameter.type:
        return True
    if value is UNKNOWN:
        return False
    wanted, options = parameter.type_words, options_of(value)
    if exact and not wanted >= _NUMBERS:
        either = any(option is NUMBER or _is_numpy_number(option) for option in options)
        wanted = wanted - _NUMBERS if either else wanted
    return all(not wanted.isdisjoint(type_words(option)) for option in options)


def _is_numpy_number(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls == "numpy.generic"


def is_sure(overload: Overload, values: list[Value], keywords: dict[str | None, Value]) -> bool:
    """Every type that the form asks for is met for sure."""
    signature = overload.signature
    if signature is None:
        return False
    positional = signature.positional
    exact = "dtype" in overload.pin  # the number's type decides the tensor's
    for index, value in enumerate(values):
        parameter = positional[index] if index < len(positional) else signature.varargs
        if parameter is not None and not certain(parameter, value, exact):
            return False
    return all(
        (parameter := signature.get(name or "")) is None or certain(parameter, value, exact)
        for name, value in keywords.items()
    )


def type_words(value: Value) -> Collection[str]:
    """The words an annotation may use for a value; everything when it is not known."""
    if value is UNKNOWN:
        return _ALL_WORDS
    if isinstance(value, Known):
        if value.value is None:
            return _NONE
        return _TYPE_NAMES.get(f"builtins.{type(value.value).__name__}", set())
    if isinstance(value, Instance) and isinstance(value.cls, str):
        return _TYPE_NAMES.get(value.cls, {value.cls.rpartition(".")[2]})
    if isinstance(value, (ListOf, TupleOf)):
        return _SIZE if isinstance(value, ListOf) and value.kind == "Size" else _SEQUENCE
    name = getattr(value, "name", "")
    if name.startswith("torch."):
        # A constant such as torch.float32 reached by name.
        return {"dtype"} if name.rpartition(".")[2] in _DTYPES else {name.rpartition(".")[2]}
    return _ALL_WORDS


_NONE = frozenset({"None"})
_SEQUENCE = frozenset({"sequence"})
_SIZE = frozenset({"sequence", "Size"})
_NUMBERS = frozenset({"int", "float"})
_ALL_WORDS = frozenset(
    "int float number bool str Tensor sequence Size dtype device None".split()  # noqa: SIM905
)
_DTYPES = frozenset(
    """
    float32 float float64 double float16 half bfloat16 int8 uint8 int16 short int32 int int64 long
    bool complex64 complex128 cfloat cdouble
    """.split()  # noqa: SIM905 - a list would take a line for each name
)


def passed_on(form: Overload, values: list[Value], keywords: dict[str | None, Value]) -> Value:
    """What a call gives back that is one of its arguments: the row says so, or emits no more."""
    hole = form.returns or form.emit
    name = hole[1:-1] if hole.startswith("{") and hole.endswith("}") else ""
    if not name.isidentifier() or form.signature is None:
        return UNKNOWN
    first = form.signature.parameters[0].name if form.signature.parameters else ""
    if name == first and values:
        return values[0]
    return keywords.get(name, UNKNOWN)


def bind_hints(
    function: ProjectFunction,
    values: list[Value],
    keywords: dict[str | None, Value],
    *,
    bound: bool,
) -> dict[str, Value]:
    """Argument values by parameter name.

    Constants count by their type, since other calls pass others.
    """
    arguments = function.node.args
    if not values and not keywords:
        return {}
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)][1 if bound else 0 :]
    hints: dict[str, Value] = dict(zip(names, values, strict=False))
    if keywords:
        known = {*names, *(a.arg for a in arguments.kwonlyargs)}
        hints |= {name: value for name, value in keywords.items() if name in known}
    return {
        name: type_of_constant(value) if isinstance(value, Known) else value
        for name, value in hints.items()
        if not says_nothing(value)
    }
