"""Could a call be a tensor's method? The arguments tell where the type of the receiver does not."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate.table import Entry
from migrate.table.signature import Signature

# Parameters of tensor methods that never take a tensor: `block.norm(x)` calls a layer.
_NO_TENSORS = frozenset(
    """
    accumulate as_tuple correction decimals descending diagonal dim dim0 dim1 dims dtype
    end_dim k keepdim largest mode offset ord p reduce repeats_dim shifts sorted start_dim
    unbiased upper
    """.split()  # noqa: SIM905 - a list would take a line for each name
)


def could_be_method(
    entry: Entry, call: ast.Call, is_tensor: Callable[[ast.expr], bool] | None = None
) -> bool:
    """Some form takes these arguments: `a.transpose()` can only be numpy's, `flow.inverse(x, y)`
    and `block.norm(x)` only a layer's.
    """
    spread = any(isinstance(a, ast.Starred) for a in call.args)
    if spread or any(keyword.arg is None for keyword in call.keywords):
        return True
    return any(
        form.signature is None or _takes(form.signature, call, is_tensor)
        for form in entry.overloads
    )


def _takes(
    signature: Signature, call: ast.Call, is_tensor: Callable[[ast.expr], bool] | None
) -> bool:
    positional = signature.positional
    given = {keyword.arg or "": keyword.value for keyword in call.keywords}
    if any(signature.get(name) is None for name in given) and signature.varkwargs is None:
        return False
    if len(call.args) > len(positional) and signature.varargs is None:
        return False
    given |= {p.name: value for p, value in zip(positional, call.args, strict=False)}
    if any(p.required and p.name not in given for p in positional):
        return False
    return is_tensor is None or not any(
        name in _NO_TENSORS and is_tensor(value) for name, value in given.items()
    )
