"""`torch.manual_seed(s)` and `torch.cuda.manual_seed_all(s)`: torch seeds the generator of each
device, MindSpore all at once, so the second call of a row goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from migrate.pipeline import becomes, declare, same
from migrate.pipeline.context import Context
from migrate.syntax.nodes import with_parts
from migrate.syntax.text import code
from migrate.syntax.walk import transform_lazily

_SEEDS = ("mindspore.set_seed", "set_seed", "helpers.manual_seed")


@declare(
    phase="tidy",
    unit="module",
    examples=[
        becomes(
            "torch.manual_seed(1)\ntorch.cuda.manual_seed_all(1)",
            "mindspore.set_seed(1)",
        ),
        same("mindspore.set_seed(1)\nmindspore.set_seed(2)"),
    ],
)
def remove_duplicate_seeds(module: cst.Module, context: Context) -> cst.Module:
    """Only calls with the same argument that follow each other on lines without comments."""
    return transform_lazily(module, _Seeds()) if "seed" in context.text else module


class _Seeds(cst.CSTTransformer):
    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return with_parts(updated_node, body=_without_repeats(updated_node.body))

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        return with_parts(updated_node, body=_without_repeats(updated_node.body))


def _without_repeats(body: Sequence[Any]) -> Sequence[Any]:
    kept: list[Any] = []
    last = ""
    for statement in body:
        seed = _seed(statement)
        if seed and seed == last and not _has_lines(statement):
            continue
        kept.append(statement)
        last = seed
    return kept if len(kept) < len(body) else body


def _seed(statement: cst.CSTNode) -> str:
    """The text of a line that is nothing but a call of set_seed."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return ""
    small = statement.body[0]
    call = small.value if isinstance(small, cst.Expr) else None
    if not isinstance(call, cst.Call) or code(call.func) not in _SEEDS:
        return ""
    return code(call) if statement.trailing_whitespace.comment is None else ""


def _has_lines(statement: cst.SimpleStatementLine) -> bool:
    return bool(statement.leading_lines)
