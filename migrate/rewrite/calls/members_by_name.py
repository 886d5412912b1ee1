"""`getattr(x, "std")()`, `getattr(x, how)(dim=0)`: members of a tensor named by strings."""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.resolve.values import is_tensor
from migrate.syntax.access import name_of


def member_by_name(call: ast.Call, context: Context) -> Refusal | None:
    """Why such a look-up may give another member than torch's, if it is one of a tensor."""
    if name_of(call.func) != "getattr" or len(call.args) < 2:
        return None
    owner, name = call.args[:2]
    if not is_tensor(context.type(owner)):
        return None
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return Refusal(
            "which member of the tensor is meant is only known when the program runs, and some "
            "differ from torch's",
            "list what it can be: {'mean': x.mean, ...}[name]",
            "MS311",
        )
    entry = context.table.get(f"torch.Tensor.{name.value}")
    if entry is None or all(form.plain and not form.drop for form in entry.overloads):
        return None
    return Refusal(
        f"`.{name.value}` of a MindSpore tensor differs from torch's, and getattr() gives "
        "MindSpore's",
        f"write `.{name.value}` in place of getattr()",
        "MS311",
    )
