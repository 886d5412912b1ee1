"""The dtype of a tensor, as far as the program states it: `x.half()`, `dtype=torch.int32`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.flow.array_dtypes import ArrayDtypes
from migrate.flow.bounded import Bounded
from migrate.flow.devices import is_called_device
from migrate.flow.project_flags import names_doubles
from migrate.resolve.values import (
    FLOAT,
    INT,
    External,
    Instance,
    Known,
    ProjectClass,
    is_tensor,
    options_of,
    type_of_constant,
)
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow import Flow
    from migrate.flow.events import Definition

CASTS = {
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
_PYTHON = {"builtins.bool": "bool", "builtins.int": "int64", "builtins.float": "float64"}
_FLOATING = frozenset({"zeros", "ones", "rand", "randn", "linspace", "empty", "eye", "FloatTensor"})
_WHOLE = frozenset(
    """
    argmax argmin argsort bincount bucketize count_nonzero LongTensor multinomial nonzero one_hot
    randint randperm searchsorted tril_indices triu_indices
    """.split()  # noqa: SIM905
)
_TRUTH = frozenset(
    """
    eq ge greater gt isclose isfinite isin isinf isnan le less logical_and logical_not logical_or
    logical_xor lt ne not_equal
    """.split()  # noqa: SIM905
)
WHOLE = frozenset({"bool", "uint8", "int8", "int16", "int32", "int64"})
# Of whole numbers they give int64; of floats the same.
_COUNTING = frozenset({"sum", "prod", "cumsum", "cumprod", "nansum"})
# Of whole numbers they give float32; of floats the same.
REAL = frozenset(
    """
    acos asin atan cos cosh erf exp expm1 log log10 log1p log2 reciprocal rsqrt sigmoid sin sinh
    softmax log_softmax mean norm sqrt std tan tanh true_divide var
    """.split()  # noqa: SIM905
)
_LIKE = frozenset({"zeros_like", "ones_like", "rand_like", "randn_like", "full_like", "empty_like"})
_KEEPING = frozenset(
    """
    abs add chunk clamp clone contiguous cpu cuda detach div expand expand_as flatten flip max min
    mul neg permute relu repeat repeat_interleave reshape roll split square squeeze sub t tile
    transpose tril triu unbind unsqueeze view view_as
    """.split()  # noqa: SIM905
)
RANK = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
NUMBERS = ("int", "float")  # of Python


class Dtypes(Bounded):
    """Asked where a result depends on it: in-place operations, integers, joined tensors."""

    def __init__(self, flow: Flow) -> None:
        super().__init__()
        self._flow = flow
        self._arrays = ArrayDtypes(flow)

    def of(self, node: ast.expr) -> str:
        """The name of the dtype, "" where the program does not state it."""
        return self.bounded(self._find, node, "")

    def _find(self, node: ast.expr) -> str:
        if isinstance(node, ast.Compare):
            return "bool"
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, (ast.Subscript, ast.Starred)):
            return self.of(node.value)
        if isinstance(node, ast.Attribute):
            if node.attr in ("data", "T", "mT", "grad"):
                return self.of(node.value)
            found = {self.of(value) for value in self.assigned(node)}
            return found.pop() if len(found) == 1 else ""
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand)
        if isinstance(node, ast.BinOp):
            return self._operator(node)
        return self._call(node) if isinstance(node, ast.Call) else ""

    def _operator(self, node: ast.BinOp) -> str:
        kinds = [self.operand(side) for side in (node.left, node.right)]
        numbers = [kind for kind in kinds if kind in NUMBERS]
        tensors = [kind for kind in kinds if kind not in NUMBERS]
        if not tensors or any(kind not in RANK for kind in tensors):
            return ""
        found = max(tensors, key=RANK.index)
        if "float" in numbers and found in WHOLE:
            return "float32"
        if "int" in numbers and found == "bool":
            found = "int64"
        return "float32" if isinstance(node.op, ast.Div) and found in WHOLE else found

    def operand(self, node: ast.expr) -> str:
        """The dtype, or \"int\" and \"float\" for numbers of Python's."""
        if isinstance(node, ast.Constant):
            return {int: "int", float: "float", bool: "int"}.get(type(node.value), "")
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            return self.operand(node.operand)
        kinds = {
            type_of_constant(kind) if isinstance(kind, Known) else kind
            for kind in options_of(self._flow.symbols.type(node))
        }
        if kinds and kinds <= {INT, FLOAT}:
            return "float" if FLOAT in kinds else "int"
        return self.of(node)

    def _name(self, node: ast.Name) -> str:
        around = self._flow.around(node)
        if around is None:
            return ""
        found = set()
        for definition in around.defuse.reaching(node):
            if definition.kind == "augmented":
                before = around.defuse.reaching_at(definition.statement, definition.name)
                found |= {self._of_or_none(d.value) for d in before if d is not definition}
            else:
                found.add(self.of_definition(definition))
        return found.pop() if len(found) == 1 else ""

    def of_definition(self, definition: Definition) -> str:
        """What a name is given, one of several results included."""
        statement = definition.statement
        if definition.value is not None or not isinstance(statement, ast.Assign):
            return self._of_or_none(definition.value)
        return self._unpacked(definition.node, statement) or self.of(statement.value)

    def _of_or_none(self, value: ast.expr | None) -> str:
        return self.of(value) if value is not None else ""

    def _unpacked(self, target: ast.AST, statement: ast.Assign) -> str:
        """One of several results of a function of the program: `loss, kept = mine(x)`."""
        place = next(
            (
                targets.elts.index(target)
                for targets in statement.targets
                if isinstance(targets, ast.Tuple) and target in targets.elts
            ),
            None,
        )
        if place is None or not isinstance(statement.value, ast.Call):
            return ""
        return self._returned(statement.value, place)

    def _returned(self, call: ast.Call, place: int | None = None) -> str:
        """What the functions return that a call may run, if it is one dtype."""
        found = set()
        for target in self._flow.calls.targets(call):
            for node in all_nodes(self._flow.of(target).node):
                if isinstance(node, ast.Return) and node.value is not None:
                    value: ast.expr | None = node.value
                    if place is not None:
                        parts = value.elts if isinstance(value, ast.Tuple) else []
                        value = parts[place] if place < len(parts) else None
                    found.add(self._of_or_none(value))
        return found.pop() if len(found) == 1 else ""

    def _call(self, node: ast.Call) -> str:
        api = self._flow.symbols.api(node.func)
        if not api:
            return self._returned(node)
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
        made = self._made(name, node)
        if made:
            return made
        method = api.startswith("torch.Tensor.") and isinstance(node.func, ast.Attribute)
        if not method and name in ("cat", "stack", "hstack", "vstack", "concat") and node.args:
            return self._of_all(node.args[0])
        subject = next(iter(node.args), None)
        if method:
            assert isinstance(node.func, ast.Attribute)
            subject = node.func.value
        return self._of_function(name, node, subject, method) if subject is not None else ""

    def _made(self, name: str, node: ast.Call) -> str:
        """What functions give that make a tensor, or always give one dtype."""
        if name in _WHOLE or name in _TRUTH:
            return "int64" if name in _WHOLE else "bool"
        if name == "arange":
            kinds = {self.operand(argument) for argument in node.args}
            return "int64" if kinds == {"int"} else "float32" if "float" in kinds else ""
        if name in ("tensor", "full", "as_tensor", "from_numpy", "scalar_tensor"):
            if not node.args:
                return ""
            given = node.args[-1 if name == "full" else 0]
            return _of_literal(given) or self._arrays.of(given)
        if name in _FLOATING:
            return "float32"
        if name in _LIKE and node.args:
            return self.of(node.args[0])
        return ""

    def _of_all(self, parts: ast.expr) -> str:
        """The dtype of `[a, b]`, if it is one."""
        elements = parts.elts if isinstance(parts, (ast.List, ast.Tuple)) else []
        found = {self.of(element) for element in elements}
        return found.pop() if len(found) == 1 else ""

    def _of_function(self, name: str, node: ast.Call, subject: ast.expr, method: bool) -> str:
        others = node.args if method else node.args[1:]
        if name in _COUNTING:
            kind = self.of(subject)
            return "int64" if kind in WHOLE else kind
        if name in REAL:
            kind = self.of(subject)
            return "float32" if kind in WHOLE else kind
        if name in _KEEPING and (not others or name in _SHAPING):
            return self.of(subject)
        if name in ("clamp", "clip") and all(isinstance(o, ast.Constant) for o in others):
            return self.of(subject) if not any(map(_is_float, others)) else ""
        return ""

    def _cast(self, node: ast.Call, receiver: ast.expr, name: str) -> str:
        """The dtype that `x.float()` and `x.to(...)` give; empty for other methods."""
        if name in CASTS and not node.args:
            return CASTS[name]
        if name in ("to", "type") and node.args:
            return self._dtype(node.args[0]) or (
                self.of(receiver) if self._is_device(node.args[0]) else ""
            )
        return self.of(node.args[0]) if name == "type_as" and node.args else ""

    def _is_device(self, node: ast.expr) -> bool:
        """`"cuda"`, `device`, `x.device`, `rank`."""
        return is_called_device(node, self._flow.symbols.type(node))

    def _dtype(self, node: ast.expr) -> str:
        kind = self._flow.symbols.type(node)
        if isinstance(kind, External) and kind.name in _PYTHON:
            return _PYTHON[kind.name]
        api = self._flow.symbols.api(node)
        name = api.rpartition(".")[2]
        name = _NAMES.get(name, name)
        return name if name in (*RANK, "bfloat16", "complex64", "complex128") else ""

    def changes(self, left: ast.expr, right: ast.expr) -> bool:
        """`left op= right` keeps the dtype of left in torch, and `left op right` may not."""
        if not is_tensor(self._flow.symbols.type(right)):
            return False
        mine, other = self.of(left), self.of(right)
        if mine == other:
            return False
        if mine in RANK and other in RANK:
            return RANK.index(other) > RANK.index(mine)
        if mine == "float32" and not other and names_doubles(self._flow.modules.project):
            return self._may_be_double(right)
        if mine:
            return mine not in ("float32", "float64", "complex64")
        return other in ("float64", "complex64", "complex128")

    def _may_be_double(self, node: ast.expr) -> bool:
        """A name of unknown origin, or an item of a list: no layer, and no result of torch's."""
        around = self._flow.around(node)
        if not isinstance(node, ast.Name) or around is None:
            return isinstance(node, ast.Subscript)
        return any(
            definition.kind == "parameter" or isinstance(definition.statement, ast.For)
            for definition in around.defuse.reaching(node)
        )

    def assigned(self, node: ast.Attribute) -> list[ast.expr]:
        """All that a class of the program assigns to `self.x`, buffers among them."""
        owner = self._flow.symbols.type(node.value)
        cls = owner.cls if isinstance(owner, Instance) else None
        if not isinstance(cls, ProjectClass):
            return []
        found = self._flow.effects.layers.assigned(cls, node.attr)
        return [value for value, _ in found if value is not None]

    def refuses(self, left: ast.expr, right: ast.expr, divides: bool) -> bool:
        """`whole += 0.5`, `whole /= 2`: the result has fractions, and torch raises."""
        if self.of(left) not in WHOLE:
            return False
        other = self.operand(right)
        return divides or other == "float" or other.startswith(("float", "bfloat"))


_SHAPING = _KEEPING - {"add", "sub", "mul", "div", "max", "min", "clamp"}


def _is_float(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _of_literal(node: ast.expr) -> str:
    """`[1, 2]` is int64, `[1.0, 2]` float32, `[True]` bool."""
    kinds = set()
    for part in all_nodes(node):
        if isinstance(part, ast.Constant):
            kinds.add(type(part.value))
        elif not isinstance(part, (ast.List, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)):
            return ""
    if float in kinds:
        return "float32"
    return "int64" if int in kinds else "bool" if kinds == {bool} else ""
