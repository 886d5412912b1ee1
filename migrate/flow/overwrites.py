"""Does anyone read a tensor before all of it is written anew? After `y.mul_(2)` nobody sees the
change through `p`, where `p.data.copy_(y)` comes next.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.flow.events import reads_in

if TYPE_CHECKING:
    from migrate.flow.cfg import Point
    from migrate.flow.function import FunctionFlow

# In-place methods that leave nothing of the old values.
_WHOLE = frozenset({"copy_", "fill_", "zero_", "normal_", "uniform_"})


def is_read_before_overwrite(flow: FunctionFlow, statement: ast.AST, name: str) -> bool:
    """Some run reads the elements of `name` behind the statement, before they are overwritten."""
    points = flow.cfg.points_of(statement)
    if not points or name in flow.defuse.captured:
        return True
    seen: set[int] = set()
    pending = list(points[-1].after)
    while pending:
        index = pending.pop()
        if index in seen:
            continue
        seen.add(index)
        point = flow.cfg.points[index]
        if any(read.id == name for read in point.reads):
            if not _overwrites(point, name):
                return True
        elif all(definition.name != name for definition in point.definitions):
            pending += point.after
    return False


def _overwrites(point: Point, name: str) -> bool:
    """`p.data.copy_(y)` as a statement, where y is not computed from p."""
    call = point.statement.value if isinstance(point.statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    place = call.func.value
    if isinstance(place, ast.Attribute) and place.attr == "data":
        place = place.value
    if call.func.attr not in _WHOLE or not isinstance(place, ast.Name) or place.id != name:
        return False
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    return all(read.id != name for argument in given for read in reads_in(argument))
