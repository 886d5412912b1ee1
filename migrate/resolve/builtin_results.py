"""What Python's own functions give, as far as types can tell."""

from __future__ import annotations

from collections.abc import Mapping

from migrate.resolve.types import item_of
from migrate.resolve.values import (
    BOOL,
    FLOAT,
    INT,
    STR,
    TENSOR,
    UNKNOWN,
    ListOf,
    Method,
    TupleOf,
    Value,
    instance,
    is_tensor,
    join,
    options_of,
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

# A copy, or the same shown while it is read.
GIVE_FIRST = frozenset(
    {
        *("copy.deepcopy", "copy.copy", "dataclasses.replace", "rich.progress.track"),
        *(f"tqdm.{part}tqdm" for part in ("", "auto.", "autonotebook.", "notebook.", "std.")),
    }
)


def _value_in(given: Value) -> Value:
    """What a dict that is made of this holds."""
    if isinstance(given, ListOf) and given.kind == "dict":
        return given.item
    pair = item_of(given)
    return pair.items[1] if isinstance(pair, TupleOf) and len(pair.items) == 2 else UNKNOWN


def dict_result(values: list[Value], keywords: Mapping[str | None, Value]) -> Value:
    """`dict(net.named_parameters())`: of pairs, of another dict, of keywords."""
    found: list[Value] = list(keywords.values())
    found += [_value_in(option) for option in (options_of(values[0]) if values else ())]
    item = found[0] if found else UNKNOWN
    for other in found[1:]:
        item = UNKNOWN if UNKNOWN in (item, other) else join(item, other)
    return ListOf(item, "dict")


def builtin_result(name: str, values: list[Value]) -> Value:
    """What a builtin gives for arguments of these types."""
    if name in _BUILTIN_RESULTS:
        return _BUILTIN_RESULTS[name]
    if not values:
        return UNKNOWN
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


def dict_member(owner: ListOf, name: str) -> Value:
    """A method of a dict of which the values are known."""
    if name == "values":
        return Method(ListOf(owner.item, "iterator"), "builtins.dict.values")
    if name == "items":
        pair = TupleOf((UNKNOWN, owner.item))
        return Method(ListOf(pair, "iterator"), "builtins.dict.values")
    if not is_tensor(owner.item):
        return UNKNOWN
    if name in ("get", "pop"):
        return Method(owner.item, "builtins.dict.get")
    return Method(owner, "builtins.dict.copy") if name == "copy" else UNKNOWN
