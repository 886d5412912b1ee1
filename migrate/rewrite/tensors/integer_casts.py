"""Casts to integers or truth values, where gradients end.

`y.long().float()` has no gradient in torch. MindSpore's cast hands it through, so that weights in
front of a quantization are trained by numbers that mean nothing. Where a value may depend on
weights, and the cast on nothing that takes no gradient anyway, it is cut off in front.
"""

from __future__ import annotations

import ast

from migrate.flow.grad_mode import is_decorated
from migrate.pipeline.context import Context
from migrate.resolve.values import INT, ProjectClass
from migrate.syntax.ast_index import all_nodes, nodes_of, parents_of

_NAMED = frozenset({"bool", "byte", "char", "int", "long", "short"})
_DTYPES = frozenset(
    """
    bool int8 int16 int32 int64 uint8 short int long LongTensor IntTensor ShortTensor BoolTensor
    ByteTensor CharTensor
    """.split()  # noqa: SIM905
)
# Their results carry no gradient, in MindSpore too.
_WITHOUT_GRADIENT = frozenset(
    """
    all any arange argmax argmin argsort bernoulli bincount empty eq equal eye
    from_numpy full ge gt isfinite isinf isnan le logical_and logical_not logical_or logical_xor lt
    multinomial ne new_full new_ones new_tensor new_zeros nonzero one_hot ones ones_like rand
    rand_like randint randint_like randn randn_like randperm searchsorted tensor
    bucketize zeros zeros_like
    """.split()  # noqa: SIM905
)
# They take classes and places, which get no gradient.
_TAKES_INTEGERS = frozenset(
    {"Embedding", "bincount", "cross_entropy", "embedding", "nll_loss", "one_hot"}
)
# So does the index of these, not what they choose from: x.gather(1, index).
_TAKES_INDEX = frozenset(
    {
        "gather",
        "index_select",
        "scatter",
        "scatter_",
        "scatter_add",
        "scatter_add_",
        "take_along_dim",
    }
)
_LEAVES = frozenset({"item", "numpy", "tolist"})
_ASKED = frozenset({"all", "any", "device", "dim", "dtype", "ndim", "numel", "shape", "size"})
_OF_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Invert, ast.Not)
_APART = ("torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "torch.autograd.Function")


def integer_casts(tree: ast.Module, context: Context) -> set[ast.AST]:
    """The casts whose receiver must not carry a gradient."""
    casts = [
        call
        for call in nodes_of(tree, ast.Call)
        if isinstance(call.func, ast.Attribute)
        and _is_cast(call, context)
        and _may_have_gradient(call.func.value, context)
    ]
    if not casts:
        return set()
    parents = parents_of(tree)
    return {
        cast
        for cast in casts
        if not ends_here(cast, parents, context) and is_differentiated(cast, parents, context)
    }


def _is_cast(call: ast.Call, context: Context) -> bool:
    usage = context.usage(call.func)
    owner, _, name = usage.api.rpartition(".") if usage is not None else ("", "", "")
    if owner != "torch.Tensor":
        return False
    return name in _NAMED or (name in ("to", "type") and names_integers(call, context))


def names_integers(call: ast.Call, context: Context) -> bool:
    """`x.to(torch.int64)`, `x.type(torch.LongTensor)`, `x.to(dtype=torch.bool)`"""
    given = [*call.args, *(k.value for k in call.keywords if k.arg in ("dtype", "other"))]
    return any(
        usage is not None and usage.api.rpartition(".")[2] in _DTYPES
        for usage in map(context.usage, given)
    )


def _may_have_gradient(value: ast.expr, context: Context) -> bool:
    """Not of a comparison, of an index that was looked for, of labels."""
    if isinstance(value, ast.Compare) or context.type(value) is INT:
        return False
    if isinstance(value, ast.BinOp) and isinstance(value.op, _OF_BITS):
        return False
    if isinstance(value, (ast.UnaryOp, ast.BinOp)):
        parts = [value.operand] if isinstance(value, ast.UnaryOp) else [value.left, value.right]
        return any(_may_have_gradient(part, context) for part in parts)
    if isinstance(value, ast.Call):
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        return name not in _WITHOUT_GRADIENT
    name = getattr(value, "attr", getattr(value, "id", "")).lower()
    return not isinstance(value, ast.Constant) and "label" not in name and "target" not in name


def ends_here(integers: ast.expr, parents: dict[ast.AST, ast.AST], context: Context) -> bool:
    """What is done with the integers takes no gradient: they are an index, a class, a mask."""
    parent = parents.get(integers)
    named = parent.arg if isinstance(parent, ast.keyword) else ""
    if isinstance(parent, (ast.keyword, ast.Tuple, ast.Slice)):
        parent = parents.get(parent)
    if isinstance(parent, (ast.Compare, ast.Subscript)):
        return True
    if isinstance(parent, (ast.If, ast.IfExp)):
        return parent.test is integers
    if isinstance(parent, (ast.UnaryOp, ast.BinOp)) and isinstance(parent.op, _OF_BITS):
        return True
    if isinstance(parent, ast.Attribute):
        return parent.attr in _LEAVES or parent.attr in _ASKED
    usage = context.usage(parent.func) if isinstance(parent, ast.Call) else None
    if usage is None or not isinstance(parent, ast.Call):
        return False
    owner, _, name = usage.api.rpartition(".")
    if name in _TAKES_INDEX:
        place = 1 if owner == "torch.Tensor" else 2
        return named == "index" or any(a is integers for a in parent.args[place : place + 1])
    return name in _TAKES_INTEGERS


def is_differentiated(cast: ast.AST, parents: dict[ast.AST, ast.AST], context: Context) -> bool:
    """In a function that a network may run; loops of training and data are not."""
    node: ast.AST | None = cast
    function = None
    while node is not None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = function or node
            if is_decorated(node, context.flow) or node.name == "__getitem__":
                return False
        if isinstance(node, ast.ClassDef) and _is_apart(node, context):
            return False
        node = parents.get(node)
    return function is not None and not _trains(function)


def _is_apart(cls: ast.ClassDef, context: Context) -> bool:
    """Data, and functions whose gradient is written out."""
    scope = context.resolution.scope
    known = [c for c in (scope.classes if scope else ()) if c.node is cls]
    return any(isinstance(c, ProjectClass) and set(c.library_bases()) & set(_APART) for c in known)


def _trains(function: ast.AST) -> bool:
    return any(getattr(node, "attr", "") == "backward" for node in all_nodes(function))
