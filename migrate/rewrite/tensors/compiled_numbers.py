"""Numbers that numpy and `round` compute of sizes, in compiled code.

There they are plain numbers without numpy's methods, `round` gives a float that no slice takes, and
`x * np.int32(n)` has no gradient, which nothing says.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.resolve.values import External
from migrate.rewrite.node_pass import NodePass
from migrate.rewrite.tensors.numpy_operands import is_number, is_numpy_value

# What an array of these is made of, as Python spells its numbers.
_KINDS = {
    **dict.fromkeys(("int", "np.int32", "np.int64", "int32", "int64", "np.int_"), "int"),
    **dict.fromkeys(("float", "np.float64", "float64", "np.float_"), "float"),
}
_WHOLE = frozenset(f"numpy.{name}" for name in ("int8", "int16", "int32", "int64", "int_"))
_GIVE_FLOATS = frozenset(
    f"numpy.{name}"
    for name in ("ceil", "exp", "floor", "log", "log10", "log1p", "log2", "mean", "rint", "sqrt")
)


@declare(
    phase="rewrite",
    unit="node",
    needs=["types", "compiled"],
    examples=[
        becomes("n = round(x.shape[0] / 2)", "n = int(round(x.shape[0] / 2))"),
    ],
)
class CompiledNumbers(NodePass):
    """Writes them as Python's own: `int(np.ceil(np.log(n)))`."""

    def propose_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression | None:
        partner = self.partner(original)
        if isinstance(partner, ast.Call) and not partner.keywords and self.file.position.functions:
            kind = self._kind(partner)
            if kind and self.file.compiles(partner):
                held = updated.func if _method(partner) else updated.args[0]
                assert isinstance(held, (cst.Attribute, cst.Arg))
                return _as_number(kind, held.value, round_=_is_round(partner))
            if _is_int(partner) and len(partner.args) == 1 and not _is_int(partner.args[0]):
                inner = updated.args[0].value
                if _gives_int(inner):
                    return inner
        return None

    def _kind(self, call: ast.Call) -> str:
        """The number that the call gives, where compiled code needs it said: int or float."""
        method = _method(call)
        if method == "item" and not call.args:
            assert isinstance(call.func, ast.Attribute)
            return self._kind_of_item(call.func.value)
        if method == "astype" and len(call.args) == 1:
            assert isinstance(call.func, ast.Attribute)
            return _kind_named(call) if self._is_numpy_number(call.func.value) else ""
        if len(call.args) != 1 or not is_number(call.args[0], self.context):
            return ""
        if _is_round(call):
            return "int"
        callee = self.context.type(call.func)
        return "int" if isinstance(callee, External) and callee.name in _WHOLE else ""

    def _kind_of_item(self, value: ast.expr) -> str:
        """Whoever asks for the item of numpy's answer knows that it is a single number."""
        if isinstance(value, ast.Call) and _method(value) == "astype" and len(value.args) == 1:
            inner = value.func.value if isinstance(value.func, ast.Attribute) else value
            return _kind_named(value) if is_numpy_value(self.context.type(inner)) else ""
        if not self._is_numpy_number(value) or not isinstance(value, ast.Call):
            return ""
        callee = self.context.type(value.func)
        return "float" if isinstance(callee, External) and callee.name in _GIVE_FLOATS else ""

    def _is_numpy_number(self, value: ast.expr) -> bool:
        return is_numpy_value(self.context.type(value)) and is_number(value, self.context)


def _gives_int(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Call) and getattr(value.func, "value", "") == "int"


def _is_int(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "int"


def _as_number(kind: str, value: cst.BaseExpression, *, round_: bool) -> cst.BaseExpression:
    """`int(value)`; a number that says already what it is stays."""
    if round_:
        value = cst.Call(func=cst.Name("round"), args=[cst.Arg(value)])
    elif isinstance(value, cst.Call) and getattr(value.func, "value", "") == kind:
        return value
    return cst.Call(func=cst.Name(kind), args=[cst.Arg(value.with_changes(lpar=[], rpar=[]))])


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) and _is_item(call) else ""


def _is_item(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("item", "astype")


def _is_round(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "round" and len(call.args) == 1


def _kind_named(call: ast.Call) -> str:
    (kind,) = call.args
    name = kind.value if isinstance(kind, ast.Constant) else ast.unparse(kind)
    return _KINDS.get(name.replace("numpy.", "np."), "") if isinstance(name, str) else ""
