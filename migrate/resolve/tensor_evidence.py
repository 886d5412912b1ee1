"""Values that can only be tensors: torch itself would refuse anything else in their place.

def distances(x, k):
    inner = -2 * torch.matmul(x.transpose(2, 1), x)    # matmul takes tensors only
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.table.entry import Entry

# Numpy's give arrays, which torch's functions refuse.
_SHAPES = {"transpose", "permute", "t", "view", "reshape", "squeeze", "unsqueeze", "contiguous"}
_SHAPES |= {"flatten", "expand", "repeat"}


def tensor_arguments(call: ast.Call, entry: Entry) -> Iterator[ast.expr]:
    """The expressions in a call of torch's that nothing but a tensor fits, by the table's row."""
    names, signature = entry.tensor_parameters, entry.main.signature
    if not names or signature is None:
        return
    for argument, parameter in zip(call.args[:2], signature.positional, strict=False):
        if f"*{parameter.name}" in names and isinstance(argument, (ast.List, ast.Tuple)):
            yield from argument.elts
        elif parameter.name in names or ("input" in names and _is_part(argument)):
            yield _whole(argument)


def sized(node: ast.expr) -> Iterator[ast.expr]:
    """`x` of `x.size()`, whose items are taken: `b, c = x.size()`, `x.size()[-1]`."""
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        method = node.func
        if isinstance(method, ast.Attribute) and method.attr == "size":
            yield method.value


def _is_part(node: ast.expr) -> bool:
    """`x[:, :2]`: numbers, lists and tuples have no such parts."""
    parts = getattr(node.slice, "elts", ()) if isinstance(node, ast.Subscript) else ()
    return any(isinstance(part, ast.Slice) for part in parts)


def _whole(node: ast.expr) -> ast.expr:
    """The expression that is a tensor if this one is: `x` of `x[:, :2]` and `x.transpose(1, 2)`."""
    while True:
        if isinstance(node, ast.Subscript) and _is_part(node):
            node = node.value
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _SHAPES:
            assert isinstance(node.func, ast.Attribute)
            node = node.func.value
        else:
            return node
