"""`x[0, :, rows]`: torch takes the integers first, MindSpore counts them among the index tensors.

Where a slice, None or an ellipsis stands between an integer and an index tensor, numpy and
MindSpore put the dimensions of the index tensors in front; torch leaves them in their place.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.rewrite.tensors.index_parts import (
    ARRAY,
    INTEGER,
    NEW,
    REST,
    UNKNOWN,
    as_tuple,
    index_kinds,
    operand,
)
from migrate.rewrite.tensors.index_pass import IndexPass
from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

_INDICES = frozenset({INTEGER, ARRAY, UNKNOWN})


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    after={"masked_writes": "a write by a mask has a form of its own in compiled code"},
    examples=[
        becomes("x = x[0, :, torch.tensor([1, 0])]", "x = x[0][:, mindspore.tensor([1, 0])]"),
    ],
)
class IntegerIndices(IndexPass):
    """Takes the integers first, in reads and in writes."""

    def read(self, index: ast.Tuple, updated: cst.Subscript) -> cst.BaseExpression | None:
        return read_integers_first(index, updated, self.context, self.spelling)

    def write(
        self, goal: ast.Subscript, place: cst.Subscript, statement: cst.Assign | cst.AugAssign
    ) -> cst.Assign | None:
        """`x[0, :, rows] = y`, where the integer is taken before the index tensor."""
        return write_integers_first(goal.slice, place, statement, self.context, self.spelling)


def read_integers_first(
    index: ast.expr, updated: cst.Subscript, context: Context, spelling: ImportPlanner
) -> cst.BaseExpression | None:
    """`x[0][:, rows]`, or a helper that looks at the indices; None where the rules agree."""
    split = _split(index, updated, context)
    if split is None:
        return None
    if isinstance(split, str):
        return expression(f"{spelling.name('helpers.take_items')}({code(updated.value)}, {split})")
    first, rest = split
    return expression(f"{code(updated.value)}[{', '.join(first)}][{', '.join(rest)}]")


def write_integers_first(
    index: ast.expr,
    place: cst.Subscript,
    statement: cst.Assign | cst.AugAssign,
    context: Context,
    spelling: ImportPlanner,
) -> cst.Assign | None:
    """`x[0] = helpers.with_items(x[0], (slice(None), rows), value)`; None where the rules agree."""
    split = _split(index, place, context)
    if split is None:
        return None
    base, value = code(place.value), code(statement.value)
    if isinstance(split, str):
        target, whole = f"{base}[:]", base
        read, where = f"{spelling.name('helpers.take_items')}({base}, {split})", split
        helper = spelling.name("helpers.put_items")
    else:
        first, rest = split
        target = whole = f"{base}[{', '.join(first)}]"
        read, where = f"{whole}[{', '.join(rest)}]", as_tuple(rest)
        helper = spelling.name("helpers.with_items")
    if isinstance(statement, cst.AugAssign):
        value = f"{read} {code(statement.operator).strip().rstrip('=')} {operand(value)}"
    new = expression(f"{helper}({whole}, {where}, {value})")
    goal = cst.ensure_type(cst.parse_expression(target), cst.Subscript)
    return cst.Assign([cst.AssignTarget(goal)], new)


def _split(
    index: ast.expr, updated: cst.Subscript, context: Context
) -> tuple[list[str], list[str]] | str | None:
    """What to take first and what then; or all of it as the text of a tuple, to be looked at when
    the program runs; None where torch and MindSpore agree.
    """
    if not isinstance(index, ast.Tuple):
        return None
    kinds = index_kinds(index, context)
    if not _differs(kinds):
        return None
    if len(updated.slice) == 1:
        return None  # x[(0, slice(None), rows)]
    texts = [code(element.slice) for element in updated.slice]
    if not _is_plain(kinds):
        return as_tuple(texts)
    last = max(number for number, kind in enumerate(kinds) if kind == INTEGER)
    first = [
        text if kind == INTEGER else ":"
        for text, kind in zip(texts[: last + 1], kinds, strict=False)
        if kind != NEW
    ]
    rest = [text for text, kind in zip(texts, kinds, strict=True) if kind != INTEGER]
    return first, rest


def _differs(kinds: list[str]) -> bool:
    """An integer and an index tensor with something else between any two of the indices."""
    places = [number for number, kind in enumerate(kinds) if kind in _INDICES]
    if len(places) < 2 or places[-1] - places[0] == len(places) - 1:
        return False
    found = {kinds[place] for place in places}
    return found != {INTEGER} and (found != {ARRAY} or len(places) > 1)


def _is_plain(kinds: list[str]) -> bool:
    """Integers, then index tensors side by side: two subscripts say it."""
    if UNKNOWN in kinds or INTEGER not in kinds:
        return False
    last = max(number for number, kind in enumerate(kinds) if kind == INTEGER)
    arrays = [number for number, kind in enumerate(kinds) if kind == ARRAY]
    return (
        REST not in kinds[:last] and arrays[0] > last and arrays[-1] - arrays[0] == len(arrays) - 1
    )
