"""`rows.append(i), columns.append(j)` on one line: the compiler drops a tuple that nobody uses, and
with it what its parts do.
"""

from __future__ import annotations

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.syntax.walk import transform_lazily


@declare(
    phase="graph_mode",
    unit="function",
    needs=["compiled"],
    examples=[
        becomes(
            "rows, columns = [], []\nrows.append(x), columns.append(y)",
            "rows, columns = ([], [])\nrows.append(x)\ncolumns.append(y)",
        ),
    ],
)
def split_call_tuple(function: cst.FunctionDef, text: str, context: Context) -> cst.FunctionDef:
    """Each call becomes a statement."""
    if "), " not in text:
        return function
    return transform_lazily(function, _Split())


class _Split(cst.CSTTransformer):
    def leave_Expr(
        self, original_node: cst.Expr, updated_node: cst.Expr
    ) -> cst.Expr | cst.FlattenSentinel[cst.BaseSmallStatement]:
        value = updated_node.value
        if not isinstance(value, cst.Tuple) or not value.elements:
            return updated_node
        if not all(isinstance(element.value, cst.Call) for element in value.elements):
            return updated_node
        return cst.FlattenSentinel([cst.Expr(element.value) for element in value.elements])
