"""`b, n, *_, device = *x.shape, x.device`, `f(*pair)`: which item goes to which name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.resolve.types import item_of
from migrate.resolve.values import (
    UNKNOWN,
    Known,
    ListOf,
    TupleOf,
    Value,
    join,
    options_of,
    type_of_constant,
)


class Spread(ListOf):
    """A tuple with one sequence spread out in it: items in front, of the sequence, and behind."""

    __slots__ = ("back", "front", "inner")

    def __init__(self, front: tuple[Value, ...], inner: Value, back: tuple[Value, ...]) -> None:
        item: Value = UNKNOWN
        for value in (*front, inner, *back):
            item = join(item, type_of_constant(value) if isinstance(value, Known) else value)
        super().__init__(item, "tuple")
        self.front, self.inner, self.back = front, inner, back


def with_spread(elements: list[ast.expr], values: tuple[Value, ...]) -> ListOf:
    """The tuple that such a display makes."""
    stars = [index for index, part in enumerate(elements) if isinstance(part, ast.Starred)]
    if len(stars) == 1:
        at = stars[0]
        return Spread(values[:at], item_of(values[at]), values[at + 1 :])
    item: Value = UNKNOWN
    for part, value in zip(elements, values, strict=True):
        item = join(item, item_of(value) if isinstance(part, ast.Starred) else value)
    return ListOf(item, "tuple")


def unpacked(targets: list[ast.expr], value: Value) -> Iterator[tuple[ast.expr, Value]]:
    """Each target with what it is given; a starred one with any of its items."""
    value = _one_tuple(value)
    number = len(targets)
    star = next((i for i, t in enumerate(targets) if isinstance(t, ast.Starred)), number)
    for index, target in enumerate(targets):
        known: Value | None = None
        if isinstance(value, TupleOf) and index != star:
            known = _item_of_tuple(value, index, star, number)
        elif isinstance(value, Spread) and index != star:
            known = _item_of_spread(value, index, star, number)
        yield target, item_of(value) if known is None else known


def _item_of_tuple(value: TupleOf, index: int, star: int, number: int) -> Value | None:
    """What one of a number of targets gets; `star` is the place of the starred one."""
    starred = star < number
    items = value.items
    fits = len(items) >= number - 1 if starred else len(items) == number
    return items[index if index < star else index - number] if fits else None


def _item_of_spread(value: Spread, index: int, star: int, number: int) -> Value | None:
    from_end = number - index
    if index < star and index < len(value.front):
        return value.front[index]
    if (index > star or star == number) and from_end <= len(value.back):
        return value.back[-from_end]
    behind = number - star - 1 if star < number else 0
    return value.inner if index < star or behind > len(value.back) else None


def _one_tuple(value: Value) -> Value:
    """`return model, cpu` here and `return wrapped, cuda` there: a tuple of either."""
    options = options_of(value)
    tuples = [option for option in options if isinstance(option, TupleOf)]
    if len(tuples) < 2 or len(tuples) != len(options):
        return value
    if len({len(option.items) for option in tuples}) != 1:
        return value
    items = list(tuples[0].items)
    for option in tuples[1:]:
        items = [join(old, new) for old, new in zip(items, option.items, strict=True)]
    return TupleOf(tuple(items))


def spread_out(arguments: list[ast.expr], values: list[Value]) -> list[Value]:
    """The values by position: a tuple's items for `*pair`; behind any other star none is known."""
    result: list[Value] = []
    for argument, value in zip(arguments, values, strict=False):
        if not isinstance(argument, ast.Starred):
            result.append(value)
        elif isinstance(value, TupleOf):
            result += value.items
        else:
            break
    return result
