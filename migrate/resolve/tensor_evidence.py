"""Values that can only be tensors: torch itself would refuse anything else in their place.

def distances(x, k):
    inner = -2 * torch.matmul(x.transpose(2, 1), x)    # matmul takes tensors only
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.table.entry import Entry

# Their first argument may be a Python number.
_TAKES_NUMBERS = {"pow", "float_power", "remainder", "result_type", "special.xlog1py"}
_TAKES_NUMBERS |= {"xlogy", "special.xlogy", "special.zeta", "bitwise_and", "bitwise_or"}
_TAKES_NUMBERS |= {"bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"}
# Their second one is a tensor, too.
_PRODUCTS = {"matmul", "mm", "bmm", "mv", "dot", "outer", "cdist"}
_JOINS = {"cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack"}
# Numpy's give arrays, which torch's functions refuse.
_SHAPES = {"transpose", "permute", "t", "view", "reshape", "squeeze", "unsqueeze", "contiguous"}
_SHAPES |= {"flatten", "expand", "repeat"}


def tensor_arguments(call: ast.Call, entry: Entry) -> Iterator[ast.expr]:
    """The expressions in a call of torch's that nothing but a tensor fits."""
    name = entry.torch.removeprefix("torch.")
    first = entry.main.signature
    if entry.kind != "function" or name in _TAKES_NUMBERS or not first or not first.parameters:
        return
    of_tensor = first.parameters[0].name == "input" or name == "split"
    for place, argument in enumerate(call.args[:2]):
        if place == 0 and name in _JOINS and isinstance(argument, (ast.List, ast.Tuple)):
            yield from argument.elts
        elif (
            (place == 0 and of_tensor)
            or (place == 1 and name in _PRODUCTS)
            or (of_tensor and _is_part(argument))
        ):
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
