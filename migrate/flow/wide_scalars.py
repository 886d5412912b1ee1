"""Tensors without dimensions: beside another tensor only their kind counts in torch, as a number's
does. MindSpore takes the wider dtype of the two.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from migrate.flow.bounded import Bounded
from migrate.flow.dtypes import CASTS, NUMBERS, RANK, REAL, WHOLE
from migrate.resolve.values import (
    FLOAT,
    INT,
    UNKNOWN,
    Instance,
    Known,
    ListOf,
    TupleOf,
    is_tensor,
    options_of,
)

if TYPE_CHECKING:
    from migrate.flow import Flow
    from migrate.flow.events import Definition
    from migrate.flow.function import FunctionFlow

_KEEPING_SHAPE = frozenset({*CASTS, *REAL, "to", "detach", "clone", "abs", "neg", "square"})
_SIZED = frozenset({"zeros", "ones", "full", "empty", "rand", "randn"})
# To a tensor without dimensions, unless a dimension is given.
_TO_SCALAR = frozenset({"sum", "mean", "max", "min", "prod", "std", "var", "norm", "median"})
_MAKING = ("torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.scalar_tensor")


class WideScalars(Bounded):
    """What a tensor that may have no dimensions would widen."""

    def __init__(self, flow: Flow) -> None:
        super().__init__()
        self._flow = flow

    def widens(self, scalar: ast.expr, other: ast.expr) -> bool:
        """`other + scalar` could have another dtype in MindSpore than in torch."""
        flow = self._flow
        if not is_tensor(flow.symbols.type(other)) or self.is_scalar(other):
            return False
        wide, narrow = self.dtype(scalar), flow.dtypes.of(other)
        if wide == "float64":
            return narrow != "float64" and narrow not in WHOLE
        if not wide and narrow == "float16":
            return self.is_scalar(scalar)
        if not wide and narrow == "float32" and self._is_number_of_numpy(scalar):
            return True
        if not narrow and wide == "int64":
            return self.is_scalar(scalar)  # beside a narrower one, or a float
        if wide not in RANK or narrow not in RANK or (wide in WHOLE) != (narrow in WHOLE):
            return False
        return narrow != "bool" and RANK.index(wide) > RANK.index(narrow)

    def is_scalar(self, node: ast.expr) -> bool:
        """A tensor that surely has no dimensions: `torch.tensor(2)`, `x.sum()`, names of those."""
        return self.bounded(self._find_scalar, node, False)

    def _find_scalar(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            return self._gives_scalar(node)
        if isinstance(node, ast.UnaryOp):
            return self.is_scalar(node.operand)
        if isinstance(node, ast.BinOp):
            return self._of_scalars(node)
        values: list[ast.expr | None] = []
        if isinstance(node, ast.Attribute):
            values = [*self._flow.dtypes.assigned(node)]
        elif isinstance(node, ast.Name) and (around := self._flow.around(node)) is not None:
            values = self._values_of(node, around)
        return bool(values) and all(value is not None and self.is_scalar(value) for value in values)

    def _of_scalars(self, node: ast.BinOp) -> bool:
        """`total / n`: one is such a tensor, the other one too or a number."""
        operand = self._flow.dtypes.operand
        sides = (node.left, node.right)
        scalars = [side for side in sides if self.is_scalar(side)]
        return bool(scalars) and all(s in scalars or operand(s) in NUMBERS for s in sides)

    def _values_of(self, node: ast.Name, around: FunctionFlow) -> list[ast.expr | None]:
        """What a name may have been given; one that was changed in place keeps its shape."""
        found: list[ast.expr | None] = []
        pending = list(around.defuse.reaching(node))
        seen: set[Definition] = set()
        while pending:
            definition = pending.pop()
            if definition in seen:
                continue
            seen.add(definition)
            if definition.kind == "augmented":
                pending += around.defuse.reaching_at(definition.statement, definition.name)
            else:
                found.append(definition.value)
        return found

    def _gives_scalar(self, node: ast.Call) -> bool:
        api = self._flow.symbols.api(node.func)
        if not api.startswith("torch."):
            return False
        name, method = api.rpartition(".")[2], api.startswith("torch.Tensor.")
        if api in ("torch.tensor", "torch.as_tensor") and node.args:
            kind = self._flow.symbols.type(node.args[0])
            return kind is INT or kind is FLOAT or isinstance(node.args[0], ast.Constant)
        if name in _SIZED and not method and node.args:
            size = node.args[0]
            return isinstance(size, ast.Tuple | ast.List) and not size.elts
        if name in _TO_SCALAR:
            given = len(node.args) + len([k for k in node.keywords if k.arg in ("dim", "axis")])
            return given == (0 if method else 1)
        if name not in _KEEPING_SHAPE:
            return False
        if method and isinstance(node.func, ast.Attribute):
            return self.is_scalar(node.func.value)
        return bool(node.args) and self.is_scalar(node.args[0])

    def has_items(self, node: ast.expr) -> bool:
        """A list, a tuple or an array is made a tensor with dimensions, a number none."""
        if isinstance(node, ast.List | ast.Tuple | ast.ListComp):
            return True
        return any(
            isinstance(kind, ListOf | TupleOf)
            or (isinstance(kind, Instance) and kind.cls == "numpy.ndarray")
            for kind in options_of(self._flow.symbols.type(node))
        )

    def dtype(self, node: ast.expr) -> str:
        """The widest dtype that the program shows of a tensor which may have no dimensions."""
        return self.bounded(self._find, node, "")

    def _find(self, node: ast.expr) -> str:
        if self.is_scalar(node):
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
        if api not in _MAKING or not node.args or self.has_items(node.args[0]):
            return ""
        return self._flow.dtypes.of(node)

    def _is_number_of_numpy(self, node: ast.expr) -> bool:
        """`torch.tensor(values.mean())`, and names of that: one of numpy's may be a double."""
        if isinstance(node, ast.Name) and (around := self._flow.around(node)) is not None:
            values = self._values_of(node, around)
            return bool(values) and all(
                isinstance(value, ast.Call) and self._is_number_of_numpy(value) for value in values
            )
        if not isinstance(node, ast.Call) or self._flow.symbols.api(node.func) not in _MAKING:
            return False
        given = node.args[0] if node.args else None
        if not isinstance(given, ast.Call) or not isinstance(given.func, ast.Attribute):
            return False
        return self._flow.symbols.type(given) in (UNKNOWN, FLOAT)

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
