"""The layout of a rewritten call: new arguments take the lines and commas of the old ones."""

from __future__ import annotations

from typing import Any

import libcst as cst


def lay_out(node: cst.Call, function: cst.BaseExpression, arguments: list[cst.Arg]) -> cst.Call:
    """Put new arguments into the layout of the old call: one line stays one line, a column stays
    a column.
    """
    old = node.args
    spread = len(old) > 1 and isinstance(old[0].comma, cst.Comma) and _breaks(old[0].comma)
    trailing = bool(old) and isinstance(old[-1].comma, cst.Comma)
    between = old[0].comma if spread else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    last = old[-1].comma if trailing and arguments else cst.MaybeSentinel.DEFAULT
    laid: list[cst.Arg] = []
    for index, argument in enumerate(arguments):
        if index == len(arguments) - 1:
            laid.append(argument.with_changes(comma=last))
        elif not isinstance(argument.comma, cst.Comma) or (
            argument is not arguments[-1] and argument.comma is last
        ):
            laid.append(argument.with_changes(comma=_without_comments(between)))
        else:
            laid.append(argument)
    changes: dict[str, Any] = {"func": function, "args": laid}
    if not laid and not isinstance(node.whitespace_before_args, cst.SimpleWhitespace):
        changes["whitespace_before_args"] = cst.SimpleWhitespace("")
    return node.with_changes(**changes)


def _breaks(comma: cst.Comma) -> bool:
    return isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace)


def _without_comments(comma: Any) -> Any:
    after = getattr(comma, "whitespace_after", None)
    if isinstance(after, cst.ParenthesizedWhitespace):
        plain = after.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
        return comma.with_changes(
            whitespace_after=after.with_changes(first_line=plain, empty_lines=[])
        )
    return comma
