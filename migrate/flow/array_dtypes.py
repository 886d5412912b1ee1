"""The dtype of numpy's arrays and numbers, which tensors made of them take: float64 where the
program does not say otherwise.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.flow.bounded import Bounded
from migrate.resolve.values import FLOAT, INT, External, Known, is_tensor, type_of_constant
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow import Flow

_DTYPES = frozenset(
    """
    bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128
    """.split()  # noqa: SIM905
)
_ALIASES = {
    "float": "float64",
    "double": "float64",
    "float_": "float64",
    "single": "float32",
    "half": "float16",
    "int": "int64",
    "int_": "int64",
    "bool_": "bool",
}
# They make float64, whatever they are given.
_DOUBLE = frozenset(
    """
    zeros ones empty eye identity linspace logspace normal rand randn random uniform standard_normal
    random_sample hanning hamming blackman
    """.split()  # noqa: SIM905
)
# Of whole numbers and Python's own they give float64, of other floats the same.
_REAL = frozenset(
    """
    arccos arcsin arctan arctan2 average cos cosh deg2rad exp expm1 log log10 log1p log2 mean median
    rad2deg sin sinh sqrt std tan tanh true_divide var
    """.split()  # noqa: SIM905
)
# They give what they are given.
_KEEPING = frozenset(
    """
    abs absolute amax amin array asarray ascontiguousarray atleast_1d atleast_2d ceil clip copy
    cumprod cumsum diff dot expand_dims flatten flip floor max maximum min minimum prod ravel repeat
    reshape roll round sort squeeze square stack sum swapaxes tile transpose
    """.split()  # noqa: SIM905
)


class ArrayDtypes(Bounded):
    """Asked for what `torch.from_numpy` and `torch.tensor` are given."""

    def __init__(self, flow: Flow) -> None:
        super().__init__()
        self._flow = flow

    def of(self, node: ast.expr) -> str:
        """The name of the dtype; "" where the program does not show it."""
        return self.bounded(self._find, node, "")

    def _find(self, node: ast.expr) -> str:
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Name):
            around = self._flow.around(node)
            values = [d.value for d in around.defuse.reaching(node)] if around is not None else []
            found = {self.of(value) if value is not None else "" for value in values}
            return found.pop() if len(found) == 1 else ""
        if isinstance(node, (ast.Subscript, ast.Starred)):
            return self.of(node.value)
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand)
        if isinstance(node, ast.BinOp):
            return self._operator(node)
        if isinstance(node, (ast.List, ast.Tuple)):
            return _of_numbers(node)
        return self.of(node.value) if isinstance(node, ast.Attribute) and node.attr == "T" else ""

    def _operator(self, node: ast.BinOp) -> str:
        """A number of Python's leaves the dtype of an array as it is, if that is a float."""
        sides = [node.left, node.right]
        arrays = {self.of(side) for side in sides if not self._is_number(side)}
        if len(arrays) != 1:
            return ""
        found = arrays.pop()
        if not isinstance(node.op, ast.Div) or found.startswith(("float", "complex")):
            return found
        return "float64" if found else ""

    def _is_number(self, node: ast.expr) -> bool:
        kind = self._flow.symbols.type(node)
        kind = type_of_constant(kind) if isinstance(kind, Known) else kind
        return kind is INT or kind is FLOAT

    def _call(self, node: ast.Call) -> str:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        stated = next((k.value for k in node.keywords if k.arg == "dtype"), None)
        if name == "astype" and stated is None and node.args:
            stated = node.args[0]
        if stated is not None:
            return _named(stated)
        if not isinstance(node.func, ast.Attribute) or is_tensor(self._flow.symbols.type(node)):
            return ""
        owner = node.func.value
        if not isinstance(self._flow.symbols.type(owner), External):  # np, np.random
            return self._of_subject(name, owner)
        return _made(name, node) or (self._of_subject(name, node.args[0]) if node.args else "")

    def _of_subject(self, name: str, subject: ast.expr) -> str:
        """What a function gives of what it is given."""
        if name not in _REAL and name not in _KEEPING:
            return ""
        if self._is_number(subject):
            return "float64" if name in _REAL else ""
        given = self.of(subject)
        return "float64" if name in _REAL and given.startswith(("int", "uint", "bool")) else given


def _made(name: str, node: ast.Call) -> str:
    """What functions of numpy's make, whatever they are given."""
    if name in _DTYPES:
        return name
    if name == "arange":
        floats = any(isinstance(a, ast.Constant) and type(a.value) is float for a in node.args)
        return "float64" if floats else ""
    return "float64" if name in _DOUBLE else ""


def _of_numbers(node: ast.List | ast.Tuple) -> str:
    """A list of numbers, also a nested one: floats are doubles."""
    kinds = {
        type(part.value) if isinstance(part, ast.Constant) else None
        for part in all_nodes(node)
        if isinstance(part, ast.expr) and not isinstance(part, (ast.List, ast.Tuple, ast.UnaryOp))
    }
    if not kinds or not kinds <= {float, int, bool}:
        return ""
    return "float64" if float in kinds else "int64" if int in kinds else "bool"


def _named(node: ast.expr) -> str:
    """`np.float32`, `"float32"`, `float`."""
    name = node.value if isinstance(node, ast.Constant) else None
    name = name or getattr(node, "attr", getattr(node, "id", ""))
    name = _ALIASES.get(name, name) if isinstance(name, str) else ""
    return name if name in _DTYPES else ""
