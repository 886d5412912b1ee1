"""`scores[tags[i], tags[j]]`: MindSpore has no gradient for several index tensors that are all
numbers, but for one after the other.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.resolve.values import is_tensor
from migrate.rewrite.tensors.index_parts import ARRAY, INTEGER, UNKNOWN, as_tuple, index_kinds
from migrate.rewrite.tensors.index_pass import IndexPass
from migrate.syntax.nodes import expression
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    after={"integer_indices": "an index with slices between has a form of its own"},
    examples=[
        becomes(
            "tags = torch.tensor([1, 2])\nx = x[tags[0], tags[1]]",
            "tags = mindspore.tensor([1, 2])\nx = helpers.take_element(x, (tags[0], tags[1]))",
        ),
        becomes(
            "tags = torch.tensor([1, 2])\nx = x[0, tags]",
            "tags = mindspore.tensor([1, 2])\nx = x[0, tags]",
        ),
    ],
)
class ElementIndices(IndexPass):
    """Rewrites reads; writes need no gradient of the index."""

    def read(self, index: ast.Tuple, updated: cst.Subscript) -> cst.BaseExpression | None:
        if not self._may_be_numbers(index):
            return None
        texts = [code(element.slice) for element in updated.slice]
        helper = self.spelling.name("helpers.take_element")
        return expression(f"{helper}({code(updated.value)}, {as_tuple(texts)})")

    def _may_be_numbers(self, index: ast.Tuple) -> bool:
        kinds = index_kinds(index, self.context)
        return set(kinds) <= {ARRAY, INTEGER, UNKNOWN} and any(map(self._is_element, index.elts))

    def _is_element(self, part: ast.expr) -> bool:
        """`tags[i]`, and `tag` of `for tag in tags`."""
        if isinstance(part, ast.Subscript) and is_tensor(self.context.type(part.value)):
            return index_kinds(part.slice, self.context) == [INTEGER]
        flow = self.context.flow.around(part)
        if not isinstance(part, ast.Name) or flow is None:
            return False
        return any(
            isinstance(d.statement, ast.For) and is_tensor(self.context.type(d.statement.iter))
            for d in flow.defuse.reaching(part)
        )
