"""Which part of a memory a view covers: of `q, k, v = x.chunk(3)` no two overlap, and neither do
`x[:, :n]` and `x[:, n:]`. Parts of different layouts of one memory are not compared.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from migrate.syntax.access import attribute_of
from migrate.syntax.ast_index import all_nodes

# A position along an axis: a number, the source text of an expression, None for the end.
Bound = int | str | None
MOST_PARTS = 4  # parts of one view: a view of a view of a view


@dataclass(frozen=True, slots=True)
class Part:
    """From `low` up to `high` along one axis of the view that `layout` made, or of the memory."""

    layout: ast.AST | None
    axis: int
    low: Bound
    high: Bound
    names: frozenset[str] = frozenset()  # variables of the bounds


Parts = tuple[Part, ...]


def are_apart(left: Parts, right: Parts) -> bool:
    """No element lies in both."""
    return any(
        one.layout is other.layout
        and one.axis == other.axis
        and (_is_before(one.high, other.low) or _is_before(other.high, one.low))
        for one in left
        for other in right
    )


def _is_before(end: Bound, start: Bound) -> bool:
    """A part that ends at `end` has nothing of one that begins at `start`."""
    if end is None or start is None:
        return False
    if isinstance(end, int) and isinstance(start, int):
        return end <= start and (end < 0) == (start < 0)
    return end == start


def item(layout: ast.AST | None, path: Iterable[int]) -> Parts:
    """Item `path` of what is unpacked: `(1, 0)` is `h` of `out, (h, c) = lstm(x)`."""
    return tuple(Part(layout, depth, index, index + 1) for depth, index in enumerate(path))


def indexed(layout: ast.AST | None, index: ast.expr, fixed: frozenset[str]) -> Parts:
    """What an index selects: numbers and slices along the axes that it counts off. `fixed` are the
    attributes, like `self.n`, that stay as they are.
    """
    entries = index.elts if isinstance(index, ast.Tuple) else [index]
    dots = [place for place, entry in enumerate(entries) if _is_ellipsis(entry)]
    if len(dots) > 1:
        return ()
    leading = entries[: dots[0]] if dots else entries
    trailing = entries[dots[0] + 1 :] if dots else []
    found = [_part(layout, axis, entry, fixed) for axis, entry in _numbered(leading, 0)]
    count = sum(not _is_new_axis(entry) for entry in trailing)
    found += [_part(layout, axis, entry, fixed) for axis, entry in _numbered(trailing, -count)]
    return tuple(part for part in found if part is not None)[:MOST_PARTS]


def _numbered(entries: list[ast.expr], first: int) -> list[tuple[int, ast.expr]]:
    return list(enumerate((e for e in entries if not _is_new_axis(e)), first))


def _part(layout: ast.AST | None, axis: int, entry: ast.expr, fixed: frozenset[str]) -> Part | None:
    if isinstance(entry, ast.Slice):
        if entry.step is not None:
            return None
        low = _bound(entry.lower, fixed) if entry.lower is not None else 0
        high = _bound(entry.upper, fixed) if entry.upper is not None else None
        if low is None or (high is None and entry.upper is not None):
            return None
        return Part(layout, axis, low, high, _names(entry)) if (low, high) != (0, None) else None
    place = _bound(entry, fixed)
    if not isinstance(place, int) or (isinstance(entry, ast.Constant) and entry.value is True):
        return None
    return Part(layout, axis, place, place + 1 if place != -1 else None)


def _bound(node: ast.expr, fixed: frozenset[str]) -> Bound:
    """`4`, `-1`, `n`, `self.n`, `x.shape[-1] // 2`; None for what may differ at the next look."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _bound(node.operand, fixed)
        return -inner if isinstance(inner, int) else f"-{inner}" if inner else None
    if isinstance(node, ast.Constant):
        number = node.value
        return number if isinstance(number, int) and not isinstance(number, bool) else None
    text = ast.unparse(node)
    return text if _is_stable(node, fixed) else None


def _is_stable(node: ast.expr, fixed: frozenset[str]) -> bool:
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.Attribute):
        return node.attr == "shape" or ast.unparse(node) in fixed
    if isinstance(node, ast.Subscript):
        return attribute_of(node.value) == "shape"
    if isinstance(node, ast.BinOp):
        return _is_stable(node.left, fixed) and _is_stable(node.right, fixed)
    return False


def _names(entry: ast.expr) -> frozenset[str]:
    return frozenset(n.id for n in all_nodes(entry) if isinstance(n, ast.Name) and n.id != "self")


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _is_new_axis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
