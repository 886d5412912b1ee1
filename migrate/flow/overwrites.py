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


class Overwrites:
    """Of one function: where the elements of a name are still read, each name looked at once."""

    def __init__(self, flow: FunctionFlow) -> None:
        self._flow = flow
        self._read: dict[str, bytearray] = {}

    def is_read_before(self, statement: ast.AST, name: str) -> bool:
        """Some run reads elements of `name` behind the statement, before they are overwritten."""
        points = self._flow.cfg.points_of(statement)
        if not points or name in self._flow.defuse.captured:
            return True
        read = self._read.get(name)
        if read is None:
            read = self._read[name] = self._read_from(name)
        return any(read[index] for index in points[-1].after)

    def _read_from(self, name: str) -> bytearray:
        """For each point, whether a run that goes on with it reads the elements."""
        points = self._flow.cfg.points
        read = bytearray(len(points))
        reading = {point.index for point in points if any(r.id == name for r in point.reads)}
        pending = [index for index in reading if not _overwrites(points[index], name)]
        while pending:
            index = pending.pop()
            if read[index]:
                continue
            read[index] = True
            pending += [
                before
                for before in points[index].before
                if before not in reading
                and all(definition.name != name for definition in points[before].definitions)
            ]
        return read


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
