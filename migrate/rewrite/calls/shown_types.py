"""`print(x.shape, x.dtype)`: torch says `torch.Size([2, 3]) torch.float32`, MindSpore `(2, 3)` and
`Float32`. Programs compare such text, and people compare logs.
"""

from __future__ import annotations

import ast
from functools import cached_property

import libcst as cst

from migrate.flow.shown_values import shown_values
from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.resolve.hierarchy import OPTIMIZER, ancestors
from migrate.resolve.members import is_module_value
from migrate.resolve.values import (
    PARAMETER,
    SIZE,
    TENSOR,
    UNKNOWN,
    External,
    Instance,
    ListOf,
    TupleOf,
    Value,
    options_of,
)
from migrate.rewrite.node_pass import NodePass
from migrate.syntax.ast_index import parents_of
from migrate.syntax.nodes import expression
from migrate.syntax.text import code

# A compiled function makes no objects; of these it makes text.
_COMPILED = {"Size": "size_text", "dtype_name": "dtype_text"}


_TEXT_OF_OPTIMIZERS = Refusal(
    "the text of an optimizer lists other settings than torch's",
    "show what is meant: `optimizer.param_groups[0]['lr']`",
    "MS302",
)


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    after={
        "library_calls": "the call or attribute is MindSpore's by then",
        "references": "names are spelled as MindSpore has them by then",
    },
    examples=[
        becomes(
            "def show(x: torch.Tensor):\n    print(x.shape)",
            "def show(x: Tensor):\n    print(helpers.Size(x.shape))",
        ),
        becomes(
            "def show(x: torch.Tensor):\n    print(x.size(), x.size(0))",
            "def show(x: Tensor):\n    print(helpers.Size(x.shape), x.shape[0])",
        ),
        becomes(
            "def show(x: torch.Tensor):\n    return str(x.dtype)",
            "def show(x: Tensor):\n    return helpers.dtype_name(x.dtype)",
        ),
        becomes(
            "def show(x: torch.Tensor):\n    return f'{x.shape=}'",
            "def show(x: Tensor):\n    return f'x.shape={helpers.Size(x.shape)!r}'",
        ),
        becomes(
            "def show(x: torch.Tensor):\n    print(x.shape + (1,))",
            "def show(x: Tensor):\n    print(helpers.Size(x.shape) + (1,))",
        ),
        becomes("y = x.shape", "y = x.shape"),
        becomes(
            "class Net(torch.nn.Module):\n    def forward(self, x):\n"
            "        assert x.dim() == 3, f'got {x.shape}'\n        return x * 2",
            "class Net(nn.Cell):\n    def construct(self, x):\n"
            "        assert x.ndim == 3, f'got {helpers.size_text(x.shape)}'\n        return x * 2",
        ),
    ],
)
class ShownTypes(NodePass):
    """Shapes and dtypes that become text."""

    @cached_property
    def _shown(self) -> dict[ast.AST, str]:
        """The helper for each expression that needs one."""
        found: dict[ast.AST, str] = {}
        for node in shown_values(self.context.tree):
            while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                node = node.left  # `x.shape + (1,)` is what its left side is
            if (
                isinstance(node, ast.Subscript)
                and _helper(node.value, self.context) == "shown_size"
            ):
                node = node.value  # of a part, too
            helper = _helper(node, self.context)
            if helper:
                found[node] = helper
        return found

    @cached_property
    def _optimizers(self) -> set[ast.AST | None]:
        values = shown_values(self.context.tree)
        return {node for node in values if _is_optimizer(self.context.type(node))}

    def _wrapped(
        self, original: cst.BaseExpression, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        partner = self.partner(original)
        if partner in self._optimizers:
            self.flag(partner, _TEXT_OF_OPTIMIZERS)
        helper = self._helper_here(partner)
        if helper is None:
            return updated
        if helper == "shown_size":
            assert isinstance(updated, cst.Attribute)
            updated = updated.value
        self.context.edited_lines.add(getattr(partner, "lineno", 0))
        return expression(f"{self.spelling.name(f'helpers.{helper}')}({code(updated)})")

    def _helper_here(self, node: ast.AST | None) -> str | None:
        helper = self._shown.get(node) if node is not None else None
        if helper is None or not self.is_compiled(self.function):
            return helper
        return _COMPILED.get(helper) if _is_alone(node, parents_of(self.context.tree)) else None

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        return self._wrapped(original, updated)

    def leave_Name(self, original: cst.Name, updated: cst.BaseExpression) -> cst.BaseExpression:
        return self._wrapped(original, updated)

    def leave_Subscript(
        self, original: cst.Subscript, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        """A part of a shape: the walk knows the shape, not the subscript."""
        partner = self.partner(original.value)
        helper = self._helper_here(self._sliced.get(partner)) if partner is not None else None
        if helper is None:
            return updated
        self.context.edited_lines.add(getattr(partner, "lineno", 0))
        return expression(f"{self.spelling.name(f'helpers.{helper}')}({code(updated)})")

    @cached_property
    def _sliced(self) -> dict[ast.AST, ast.AST]:
        """The part of a shape, by the shape."""
        return {node.value: node for node in self._shown if isinstance(node, ast.Subscript)}

    def leave_Call(self, original: cst.Call, updated: cst.BaseExpression) -> cst.BaseExpression:
        wrapped = self._wrapped(original, updated)
        return _plain_text(wrapped) if wrapped is updated else wrapped


def _is_alone(node: ast.AST | None, parents: dict[ast.AST, ast.AST]) -> bool:
    """It is text by itself, not within a list, a sum or a conversion."""
    parent = parents.get(node) if node is not None else None
    if isinstance(parent, ast.Tuple):
        parent = parents.get(parent)  # "%s %s" % (x.shape, y.shape)
    if isinstance(parent, ast.FormattedValue):
        return parent.conversion == -1
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.Mod)
    return isinstance(parent, ast.Call)


def _helper(node: ast.expr, context: Context) -> str:
    kind = context.type(node)
    if kind is SIZE or (isinstance(kind, ListOf) and kind.kind == "Size"):
        return "Size"
    if _is_dtype(kind, context):
        return "dtype_name"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return "Size" if _helper(node.value, context) == "Size" else ""
    if isinstance(node, ast.Attribute) and node.attr in ("shape", "dtype", "device"):
        if node.attr == "device":
            known = isinstance(kind, Instance) and kind.cls == "torch.device"
            return "device" if known and context.type(node.value) in (TENSOR, PARAMETER) else ""
        if context.type(node.value) is UNKNOWN and kind is UNKNOWN:
            return "shown_size" if node.attr == "shape" else "dtype_name"
    return ""


def _is_optimizer(kind: Value) -> bool:
    name = kind.cls if isinstance(kind, Instance) else None
    return isinstance(name, str) and OPTIMIZER in ancestors(name)


def _is_dtype(kind: Value, context: Context) -> bool:
    if isinstance(kind, External):
        entry = context.table.get(kind.name)
        return entry is not None and entry.kind == "dtype"
    return isinstance(kind, Instance) and kind.cls == "torch.dtype"


def _plain_text(node: cst.BaseExpression) -> cst.BaseExpression:
    """`str(helpers.dtype_name(d))` is `helpers.dtype_name(d)`, which is text already."""
    if (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value in ("str", "repr")
        and len(node.args) == 1
        and isinstance(node.args[0].value, cst.Call)
        and code(node.args[0].value.func).endswith("helpers.dtype_name")
    ):
        return node.args[0].value
    return node


def shows_tensors(context: Context) -> bool:
    """Whether the file makes text of tensors."""
    return any(_holds(context.type(node), (TENSOR, PARAMETER)) for node in _values(context))


def shows_leaves(context: Context) -> bool:
    """Whether the file may make text of a tensor that an optimizer could be given."""
    return any(_holds(context.type(node), (PARAMETER,)) for node in _values(context))


def shows_layers(context: Context) -> bool:
    """Whether the file makes text of networks."""
    return any(is_module_value(context.type(node)) for node in _values(context))


def _values(context: Context) -> list[ast.expr]:
    return list(shown_values(context.tree))


def _holds(value: Value, kinds: tuple[Value, ...], depth: int = 3) -> bool:
    if depth == 0:
        return False
    for option in options_of(value):
        if option in kinds:
            return True
        if isinstance(option, ListOf) and _holds(option.item, kinds, depth - 1):
            return True
        if isinstance(option, TupleOf) and any(_holds(i, kinds, depth - 1) for i in option.items):
            return True
    return False
