"""`f"{loss:.3f}"`: a MindSpore tensor takes no format, its item does; and strings that come into an
f-string need the other quotes.
"""

from __future__ import annotations

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.resolve.values import STR, Known, Value, is_tensor, options_of
from migrate.rewrite.effects import Effects
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.syntax.nodes import OtherQuotes, atomic, with_parts


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    examples=[becomes("print(f'{x:.3f}')", "print(f'{x.item():.3f}')")],
)
class FormattedStrings(NodePass):
    """Values in f-strings."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)

    def leave_FormattedStringExpression(
        self,
        original: cst.FormattedStringExpression,
        updated: cst.FormattedStringExpression,
    ) -> cst.FormattedStringExpression:
        value = self._effects.bare(updated.expression)
        kind = self.context.type(self.partner(original.expression))
        if original.format_spec is not None and is_tensor(kind):
            value = cst.Call(func=cst.Attribute(value=atomic(value), attr=cst.Name("item")))
        elif (
            original.format_spec is not None
            and any(map(is_tensor, options_of(kind)))
            and not any(map(_is_text, options_of(kind)))
        ):
            value = cst.Call(func=cst.Name("float"), args=[cst.Arg(value)])  # or a number already
        return with_parts(updated, expression=value)

    def leave_FormattedString(
        self, original: cst.FormattedString, updated: cst.FormattedString
    ) -> cst.FormattedString:
        if original is updated or len(updated.end) != 1:
            return updated
        return updated.visit(OtherQuotes(updated.end))  # type: ignore[return-value]


def _is_text(value: Value) -> bool:
    return value is STR or (isinstance(value, Known) and isinstance(value.value, str))
