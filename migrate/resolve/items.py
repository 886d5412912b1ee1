"""What `value[key]` gives: an item of a tuple, a layer of a container, a slice."""

from __future__ import annotations

from migrate.resolve.types import item_of
from migrate.resolve.values import (
    MODULE,
    PARAMETER,
    UNKNOWN,
    Container,
    Instance,
    Known,
    ListOf,
    TupleOf,
    Value,
)

_LISTS_OF_LAYERS = ("torch.nn.Sequential", "torch.nn.ModuleList")


def item_at(owner: Value, key: Value, sliced: bool) -> Value | None:
    """The item, or the slice; None where nothing is known of what the owner holds."""
    if isinstance(owner, TupleOf):
        return _of_tuple(owner, key, sliced)
    if isinstance(owner, ListOf):
        return owner if sliced else owner.item
    return _of_instance(owner, key, sliced) if isinstance(owner, Instance) else None


def _of_tuple(owner: TupleOf, key: Value, sliced: bool) -> Value:
    place = key.value if isinstance(key, Known) else None
    if isinstance(place, int) and -len(owner.items) <= place < len(owner.items):
        return owner.items[place]
    return owner if sliced else item_of(owner)


def _of_instance(owner: Instance, key: Value, sliced: bool) -> Value | None:
    if sliced and owner.cls in _LISTS_OF_LAYERS:
        return owner
    if isinstance(owner, Container):
        held = owner.get(str(key.value)) if isinstance(key, Known) else owner.item
        return MODULE if held is UNKNOWN else held
    if owner.cls == "torch.nn.ModuleDict":
        return MODULE
    if owner.cls == "torch.optim.ParamGroup":
        return ListOf(PARAMETER) if isinstance(key, Known) and key.value == "params" else None
    return item_of(owner)


def filled(owner: Value, value: Value, depth: int) -> Value:
    """A list whose places were None until something was put there, `depth` lists further in."""
    if isinstance(owner, ListOf):
        item = _replaced(owner.item, value, depth)
        return owner if item is owner.item else ListOf(item, owner.kind)
    if isinstance(owner, TupleOf):
        return TupleOf(tuple(_replaced(item, value, depth) for item in owner.items))
    return owner


def _replaced(item: Value, value: Value, depth: int) -> Value:
    if depth > 1:
        return filled(item, value, depth - 1)
    return value if isinstance(item, Known) and item.value is None else item
