"""The dtype of a tensor, as far as the program states it: `x.half()`, `dtype=torch.int32`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.resolve.values import INT, is_tensor

if TYPE_CHECKING:
    from migrate.flow import Flow

_CASTS = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "bfloat16": "bfloat16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "byte": "uint8",
    "char": "int8",
    "bool": "bool",
}
_NAMES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "long": "int64",
    "int": "int32",
    "short": "int16",
}
_FLOATING = frozenset({"zeros", "ones", "rand", "randn", "linspace", "empty", "eye", "FloatTensor"})
_WHOLE = frozenset({"randint", "randperm", "argmax", "argmin", "argsort", "LongTensor", "nonzero"})
_LIKE = frozenset({"zeros_like", "ones_like", "rand_like", "randn_like", "full_like", "empty_like"})
# Results of another dtype than the receiver's.
_CHANGING = frozenset({"sum", "mean", "cumsum", "prod", "cumprod", "std", "var", "norm", "item"})
_KEEPING = frozenset(
    """
    abs add chunk clamp clone contiguous cpu cuda detach div expand flatten max min mul neg permute
    relu repeat reshape split squeeze sub t transpose unbind unsqueeze view
    """.split()  # noqa: SIM905
)
_RANK = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
_DEEPEST = 12


class Dtypes:
    """Asked where an in-place operation must keep the dtype of its left side."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._depth = 0

    def of(self, node: ast.expr) -> str:
        """The name of the dtype, "" where the program does not state it."""
        if self._depth > _DEEPEST:
            return ""
        self._depth += 1
        try:
            return self._find(node)
        finally:
            self._depth -= 1

    def _find(self, node: ast.expr) -> str:
        if isinstance(node, ast.Compare):
            return "bool"
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Subscript | ast.Starred):
            return self.of(node.value)
        if isinstance(node, ast.Attribute):
            return self.of(node.value) if node.attr in ("data", "T", "mT", "grad") else ""
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand)
        if isinstance(node, ast.BinOp):
            return self._operator(node)
        return self._call(node) if isinstance(node, ast.Call) else ""

    def _operator(self, node: ast.BinOp) -> str:
        left, right = self._operand(node.left), self._operand(node.right)
        if left == "number":
            return right if right != "number" else ""
        if right == "number":
            return left
        if left not in _RANK or right not in _RANK:
            return ""
        found = max(left, right, key=_RANK.index)
        return "float32" if isinstance(node.op, ast.Div) and _RANK.index(found) < 6 else found

    def _operand(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant) or self._flow.symbols.type(node) is INT:
            return "number"
        return self.of(node)

    def _name(self, node: ast.Name) -> str:
        around = self._flow.around(node)
        if around is None:
            return ""
        definitions = around.defuse.reaching(node)
        found = set()
        for definition in definitions:
            if definition.kind == "augmented":
                before = around.defuse.reaching_at(definition.statement, definition.name)
                found |= {
                    self.of(d.value) if d.value else "" for d in before if d is not definition
                }
                continue
            statement = definition.statement
            value = definition.value or (
                statement.value if isinstance(statement, ast.Assign) else None
            )
            found.add(self.of(value) if value is not None else "")
        return found.pop() if len(found) == 1 else ""

    def _call(self, node: ast.Call) -> str:
        api = self._flow.symbols.api(node.func)
        if not api.startswith("torch."):
            return ""
        name = api.rpartition(".")[2]
        stated = next((k.value for k in node.keywords if k.arg == "dtype"), None)
        if stated is not None:
            return self._dtype(stated)
        if api.startswith("torch.Tensor.") and isinstance(node.func, ast.Attribute):
            cast = self._cast(node, node.func.value, name)
            if cast:
                return cast
        if name in _WHOLE:
            return "int64"
        if name == "arange":
            whole = all(self._operand(a) == "number" and not _is_float(a) for a in node.args)
            return "int64" if whole else "float32"
        if name in ("tensor", "full"):
            return _of_literal(node.args[-1 if name == "full" else 0]) if node.args else ""
        if name in _FLOATING:
            return "float32"
        if name in _LIKE and node.args:
            return self.of(node.args[0])
        method = api.startswith("torch.Tensor.") and isinstance(node.func, ast.Attribute)
        if method and name in _KEEPING and isinstance(node.func, ast.Attribute):
            return self.of(node.func.value) if len(node.args) < 1 or name in _SHAPING else ""
        return ""

    def _cast(self, node: ast.Call, receiver: ast.expr, name: str) -> str:
        """The dtype that `x.float()` and `x.to(...)` give; empty for other methods."""
        if name in _CASTS and not node.args:
            return _CASTS[name]
        if name in ("to", "type") and node.args:
            return self._dtype(node.args[0]) or self.of(receiver)
        return ""

    def _dtype(self, node: ast.expr) -> str:
        api = self._flow.symbols.api(node)
        name = api.rpartition(".")[2]
        name = _NAMES.get(name, name)
        return name if name in (*_RANK, "bfloat16", "complex64", "complex128") else ""

    def changes(self, left: ast.expr, right: ast.expr) -> bool:
        """`left op= right` keeps the dtype of left in torch, and `left op right` may not."""
        if not is_tensor(self._flow.symbols.type(right)):
            return False
        mine, other = self.of(left), self.of(right)
        if mine == other:
            return False
        if mine in _RANK and other in _RANK:
            return _RANK.index(other) > _RANK.index(mine)
        if mine:
            return mine not in ("float32", "float64", "complex64")
        return other in ("float64", "complex64", "complex128")


_SHAPING = _KEEPING - {"add", "sub", "mul", "div", "max", "min", "clamp"}


def _is_float(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _of_literal(node: ast.expr) -> str:
    """`[1, 2]` is int64, `[1.0, 2]` float32, `[True]` bool."""
    kinds = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Constant):
            kinds.add(type(part.value))
        elif not isinstance(part, ast.List | ast.Tuple | ast.UnaryOp | ast.USub | ast.Load):
            return ""
    if float in kinds:
        return "float32"
    return "int64" if int in kinds else "bool" if kinds == {bool} else ""
