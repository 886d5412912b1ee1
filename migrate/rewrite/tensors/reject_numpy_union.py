"""Parameters that are numpy's arrays for one caller and tensors for another.

Their methods have the same names and, some of them, other defaults: no one form is right for both.
"""

from __future__ import annotations

import ast

from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.resolve.numpy_results import is_numpy
from migrate.resolve.values import Instance, is_tensor, options_of


def reject_numpy_union(receiver: ast.AST, context: Context) -> None:
    """Raise Refusal for a value of both kinds."""
    kinds = options_of(context.type(receiver))
    arrays = any(isinstance(kind, Instance) and is_numpy(kind.cls) for kind in kinds)
    if arrays and any(map(is_tensor, kinds)):
        raise Refusal(
            f"{ast.unparse(receiver)} is numpy's array for one caller and a tensor for another",
            "give it one kind: torch.from_numpy(...) or .numpy() where it is called",
            "MS310",
        )
