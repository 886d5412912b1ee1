"""What Python's own functions give, as far as types can tell."""

from __future__ import annotations

from migrate.resolve.types import item_of
from migrate.resolve.values import (
    BOOL,
    FLOAT,
    INT,
    STR,
    TENSOR,
    UNKNOWN,
    ListOf,
    TupleOf,
    Value,
    instance,
    is_tensor,
)

_BUILTIN_RESULTS: dict[str, Value] = {
    "len": INT,
    "int": INT,
    "float": FLOAT,
    "str": STR,
    "repr": STR,
    "bool": BOOL,
    "isinstance": BOOL,
    "hasattr": BOOL,
    "callable": BOOL,
    "any": BOOL,
    "all": BOOL,
    "id": INT,
    "round": instance("builtins.number"),
}
_SAME_ITEMS = {
    "list": "list",
    "sorted": "list",
    "tuple": "tuple",
    "set": "list",
    "iter": "iterator",
    "reversed": "iterator",
}


def builtin_result(name: str, values: list[Value]) -> Value:
    """What a builtin gives for arguments of these types."""
    if name in _BUILTIN_RESULTS:
        return _BUILTIN_RESULTS[name]
    if not values:
        return ListOf(UNKNOWN, "dict") if name == "dict" else UNKNOWN
    if name in _SAME_ITEMS:
        return (
            values[0]
            if isinstance(values[0], TupleOf)
            else ListOf(item_of(values[0]), _SAME_ITEMS[name])
        )
    if name == "enumerate":
        return ListOf(TupleOf((INT, item_of(values[0]))), "iterator")
    if name == "zip":
        return ListOf(TupleOf(tuple(item_of(value) for value in values)), "iterator")
    if name == "range":
        return ListOf(INT, "iterator")
    if name in ("next",):
        return item_of(values[0])
    if name in ("sum", "max", "min", "abs", "pow"):
        return (
            TENSOR if is_tensor(values[0]) or is_tensor(item_of(values[0])) else item_of(values[0])
        )
    if name == "filter" and len(values) == 2:
        return ListOf(item_of(values[1]), "iterator")
    return UNKNOWN
