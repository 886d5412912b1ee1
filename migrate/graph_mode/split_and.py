"""`if self.skip and self.args.stride == 1 and i == o:`: what a named tuple of a Cell holds is no
constant to the compiler, and so the whole test is none, and code is compiled that never runs.
"""

from __future__ import annotations

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.pipeline.context import Context
from migrate.syntax.text import code
from migrate.syntax.walk import transform_lazily


@declare(
    phase="graph_mode",
    unit="function",
    needs=["compiled"],
    examples=[
        becomes(
            "if self.skip and self.args.stride == 1:\n    x = x + 1",
            "if self.skip:\n    if self.args.stride == 1:\n        x = x + 1",
        ),
    ],
)
def split_and(function: cst.FunctionDef, text: str, context: Context) -> cst.FunctionDef:
    """One `if` for each part: those that are constants are settled on their own."""
    if " and " not in text:
        return function
    return transform_lazily(function, _Nest())


class _Nest(cst.CSTTransformer):
    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.If:
        parts = _parts(updated_node.test)
        alone = updated_node.orelse is None and len(parts) > 1
        if not alone or not any(map(_compares_held, parts)):
            return updated_node
        inner: cst.BaseSuite = updated_node.body
        for part in reversed(parts[1:]):
            inner = cst.IndentedBlock([cst.If(test=_bare(part), body=inner)])
        return updated_node.with_changes(test=_bare(parts[0]), body=inner)


def _parts(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """a, b and c of `a and b and c`."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        return [*_parts(test.left), *_parts(test.right)]
    return [test]


def _compares_held(part: cst.BaseExpression) -> bool:
    """`self.args.stride == 1`, beside other parts."""
    if not isinstance(part, cst.Comparison) or not isinstance(part.left, cst.Attribute):
        return False
    holder = part.left.value
    return isinstance(holder, cst.Attribute) and code(holder.value) == "self"


def _bare(part: cst.BaseExpression) -> cst.BaseExpression:
    return part.with_changes(lpar=[], rpar=[]) if part.lpar else part
