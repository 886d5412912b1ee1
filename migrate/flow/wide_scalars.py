"""Tensors without dimensions: beside another tensor only their kind counts in torch, as a number's
does. MindSpore takes the wider dtype of the two.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from migrate.flow.dtypes import RANK, WHOLE
from migrate.resolve.values import INT, UNKNOWN, Known, is_tensor

if TYPE_CHECKING:
    from migrate.flow import Flow

_DEEPEST = 8
_MAKING = ("torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.scalar_tensor")


class WideScalars:
    """What a tensor that may have no dimensions would widen."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._depth = 0

    def widens(self, scalar: ast.expr, other: ast.expr) -> bool:
        """`other + scalar` could have another dtype in MindSpore than in torch."""
        flow = self._flow
        if not is_tensor(flow.symbols.type(other)) or flow.dtypes.is_scalar(other):
            return False
        wide, narrow = self.dtype(scalar), flow.dtypes.of(other)
        if wide == "float64":
            return narrow != "float64"
        if not wide and narrow == "float16":
            return flow.dtypes.is_scalar(scalar)
        if not narrow and wide == "int64":
            return flow.dtypes.is_scalar(scalar)  # beside a narrower one, or a float
        if wide not in RANK or narrow not in RANK or (wide in WHOLE) != (narrow in WHOLE):
            return False
        return narrow != "bool" and RANK.index(wide) > RANK.index(narrow)

    def dtype(self, node: ast.expr) -> str:
        """The widest dtype that the program shows of a tensor which may have no dimensions."""
        if self._depth > _DEEPEST:
            return ""
        self._depth += 1
        try:
            return self._find(node)
        finally:
            self._depth -= 1

    def _find(self, node: ast.expr) -> str:
        if self._flow.dtypes.is_scalar(node):
            return self._flow.dtypes.of(node)
        if isinstance(node, ast.Call):
            return self._made(node)
        if isinstance(node, ast.Subscript):
            whole = is_tensor(self._flow.symbols.type(node.value)) and self._is_place(node.slice)
            return self._flow.dtypes.of(node.value) if whole else ""
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute):
            return _widest(map(self.dtype, self._flow.dtypes.assigned(node)))
        return ""

    def _made(self, node: ast.Call) -> str:
        """`torch.tensor(values.mean())`: a number of numpy's has a dtype."""
        api = self._flow.symbols.api(node.func)
        if api not in _MAKING or not node.args or self._flow.dtypes.has_items(node.args[0]):
            return ""
        return self._flow.dtypes.of(node)

    def _is_place(self, index: ast.expr) -> bool:
        kind = self._flow.symbols.type(index)
        if isinstance(kind, Known):
            return isinstance(kind.value, int)
        return kind is INT or (kind is UNKNOWN and isinstance(index, (ast.Name, ast.BinOp)))

    def _name(self, node: ast.Name) -> str:
        around = self._flow.around(node)
        found = []
        for definition in around.defuse.reaching(node) if around is not None else ():
            statement = definition.statement
            if definition.kind == "parameter" and around is not None:
                given = self._flow.views.given(around.node, node.id)
                found += [flow.scalars.dtype(value) for flow, value in given]
            elif isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
                tensor = is_tensor(self._flow.symbols.type(statement.iter))
                found += [self._flow.dtypes.of(statement.iter)] if tensor else []
            elif definition.value is not None and definition.kind != "augmented":
                found.append(self.dtype(definition.value))
            elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Tuple):
                found += map(self.dtype, statement.value.elts)
        return _widest(found)


def _widest(found: Iterable[str]) -> str:
    known = [dtype for dtype in found if dtype in RANK]
    return max(known, key=RANK.index, default="")
