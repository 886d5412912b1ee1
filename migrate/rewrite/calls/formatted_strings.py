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
from migrate.syntax.text import code


@declare(
    phase="rewrite",
    unit="node",
    needs=["types"],
    examples=[
        becomes("print(f'{x:.3f}')", "print(f'{x.item():.3f}')"),
        becomes(
            """
            class Meter:
                def __init__(self):
                    self.value = 0

                def update(self, x: torch.Tensor):
                    self.value = x

                def __str__(self):
                    return f"{self.value:.3f}"
            """,
            """
            class Meter:
                def __init__(self):
                    self.value = 0

                def update(self, x: Tensor):
                    self.value = x

                def __str__(self):
                    return f"{float(self.value):.3f}"
            """,
        ),
    ],
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
        partner = self.partner(original.expression)
        kind = self.context.type(partner)
        if original.format_spec is not None and is_tensor(kind):
            value = cst.Call(func=cst.Attribute(value=atomic(value), attr=cst.Name("item")))
            self.context.edited_lines.add(getattr(partner, "lineno", 0))
        elif (
            original.format_spec is not None
            and any(map(is_tensor, options_of(kind)))
            and not any(map(_is_text, options_of(kind)))
        ):
            value = cst.Call(func=cst.Name("float"), args=[cst.Arg(value)])  # or a number already
            self.context.edited_lines.add(getattr(partner, "lineno", 0))
        return with_parts(updated, expression=value)

    def leave_FormattedString(
        self, original: cst.FormattedString, updated: cst.FormattedString
    ) -> cst.FormattedString:
        if original is updated:
            return updated
        updated = updated.with_changes(parts=_with_labels(original, updated))
        if len(updated.end) != 1:
            return updated
        return updated.visit(OtherQuotes(updated.end))  # type: ignore[return-value]


def _with_labels(
    original: cst.FormattedString, updated: cst.FormattedString
) -> list[cst.BaseFormattedStringContent]:
    """`{x.size()=}` shows its own source: that stays what it was."""
    parts: list[cst.BaseFormattedStringContent] = []
    for before, after in zip(original.parts, updated.parts, strict=True):
        if isinstance(before, cst.FormattedStringExpression) and before.equal is not None:
            assert isinstance(after, cst.FormattedStringExpression)
            label = code(before.expression) + code(before.equal)
            if code(after.expression) != code(before.expression) and "{" not in label:
                parts.append(cst.FormattedStringText(label))
                plain = after.format_spec is None and after.conversion is None
                after = after.with_changes(
                    equal=None, conversion="r" if plain else after.conversion
                )
        parts.append(after)
    return parts


def _is_text(value: Value) -> bool:
    return value is STR or (isinstance(value, Known) and isinstance(value.value, str))
