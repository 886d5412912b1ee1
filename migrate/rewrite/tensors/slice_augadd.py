"""`attn[:, :, 1:, 1:] += bias` in compiled code: Graph mode lists the positions of all the elements
that it writes to, many times the tensor itself. A sum with the padded value takes none.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.syntax.nodes import expression
from migrate.syntax.text import code


def slice_augadd(target: ast.expr, updated: cst.AugAssign, helper: str) -> cst.Assign | None:
    """`x = helpers.add_to_part(x, bounds, value)`; None for other operations and places."""
    place = updated.target
    if not isinstance(target, ast.Subscript) or not isinstance(place, cst.Subscript):
        return None
    bounds = _bounds(target.slice)
    sign = code(updated.operator).strip()
    if bounds is None or sign not in ("+=", "-=") or not isinstance(place.value, cst.Name):
        return None
    name, value = place.value.value, code(updated.value)
    if sign == "-=":
        value = f"-({value})"
    spelled = ", ".join(f"({start}, {stop})" for start, stop in bounds)
    comma = "," if len(bounds) == 1 else ""
    new = expression(f"{helper}({name}, ({spelled}{comma}), {value})")
    return cst.Assign([cst.AssignTarget(cst.Name(name))], new)


def _bounds(index: ast.expr) -> list[tuple[int, int | None]] | None:
    """Start and stop of each slice, where there are only slices of constants, one after another."""
    found: list[tuple[int, int | None]] = []
    for part in index.elts if isinstance(index, ast.Tuple) else [index]:
        if not isinstance(part, ast.Slice) or part.step is not None:
            return None
        start, stop = _number(part.lower, 0), _number(part.upper, None)
        if start is False or stop is False or start is None:
            return None
        found.append((start, stop))
    return found


def _number(node: ast.expr | None, default: int | None) -> int | None:
    """Its value; False where it is no constant."""
    if node is None:
        return default
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return False
    return value if isinstance(value, int) and not isinstance(value, bool) else False
