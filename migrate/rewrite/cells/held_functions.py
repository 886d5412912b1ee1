"""`self.act = partial(F.leaky_relu, negative_slope=0.1)`: MindSpore 2.10 compiles a call of it
without a gradient, and nothing says so. The helpers' partial is followed.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.resolve.values import (
    UNKNOWN,
    CallableOf,
    External,
    Method,
    ProjectClass,
    ProjectFunction,
    options_of,
)


def holds_function(call: ast.Call, context: Context, *, in_cell: bool) -> bool:
    """Whether this is a partial of a function that compiled code may call.

    A partial of a class is called when layers are made, which Python does. Of what is not known, or
    is the program's own, only what stands in a Module counts.
    """
    callee = context.type(call.func)
    if not isinstance(callee, External) or callee.name != "functools.partial" or not call.args:
        return False
    held = call.args[0]
    usage = context.usage(held)
    if usage is not None:
        entry = context.table.get(usage.api)
        return entry is not None and entry.kind in ("function", "method")
    kinds = options_of(context.type(held))
    if any(isinstance(kind, ProjectClass) for kind in kinds):
        return False
    own = ProjectFunction | Method | CallableOf
    return in_cell and (
        isinstance(held, ast.Lambda)
        or any(isinstance(kind, own) or kind is UNKNOWN for kind in kinds)
    )
