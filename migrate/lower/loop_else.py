"""`for ...: ... else: ...`: Graph mode compiles no loop with an else. A flag says whether the
loop was left by `break`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.lower.function import SCOPES, CompiledFunction
from migrate.pipeline import becomes, declare
from migrate.syntax.edits import Edit


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled"],
    examples=[
        becomes(
            "for i in range(3):\n    if i == y:\n        break\nelse:\n    x = x * 2",
            "found = False\nfor i in range(3):\n    if i == y:\n        found = True\n"
            "        break\n"
            "if not found:\n    x = x * 2",
        ),
        becomes(
            "for i in range(3):\n    x = x + i\nelse:\n    x = x * 2",
            "for i in range(3):\n    x = x + i\nx = x * 2",
        ),
    ],
)
def loop_else(function: CompiledFunction) -> None:
    source = function.source
    loops: Iterator[ast.For | ast.While] = function.of_kind(ast.For, ast.While)
    for loop in loops:
        if not loop.orelse:
            continue
        breaks = list(_breaks(loop.body))
        crowded = [s for s in [loop, *breaks, *loop.orelse[:1]] if not function.begins_line(s)]
        if crowded:
            function.edits += list(function.own_lines(crowded[0]))
            return
        indent = source.indent_of(loop)
        _, end = source.span(loop.body[-1])
        begin = source.span(loop.orelse[0])[0]
        begin = source.text.rfind("\n", 0, begin) + 1
        if not breaks:
            function.edits.append(Edit(end, begin, ("\n",)))
            _outdent(loop, begin, indent, function)
            return
        flag = function.fresh("found")
        start = source.span(loop)[0]
        function.edits.append(Edit(start, start, (f"{flag} = False\n{indent}",)))
        for statement in breaks:
            inner = source.indent_of(statement)
            at = source.span(statement)[0]
            function.edits.append(Edit(at, at, (f"{flag} = True\n{inner}",)))
        function.edits.append(Edit(end, begin, (f"\n{indent}if not {flag}:\n",)))
        return


def _outdent(
    loop: ast.For | ast.While, begin: int, indent: str, function: CompiledFunction
) -> None:
    """The block of the else, one step further out."""
    source = function.source
    inner = source.indent_of(loop.orelse[0])
    first = source.line_of(begin)
    last = loop.orelse[-1].end_lineno or first
    for line in range(first, last + 1):
        if source.lines[line - 1].startswith(inner):
            at = source.offset(line, 0)
            function.edits.append(Edit(at + len(indent), at + len(inner), ()))


def _breaks(block: list[ast.stmt]) -> Iterator[ast.Break]:
    """Those that leave this loop, not one inside it."""
    for statement in block:
        if isinstance(statement, ast.Break):
            yield statement
        elif isinstance(statement, (ast.For, ast.While)):
            yield from _breaks(statement.orelse)
        elif not isinstance(statement, SCOPES):
            for name in ("body", "orelse", "finalbody"):
                yield from _breaks(getattr(statement, name, []))
            for handler in getattr(statement, "handlers", ()):
                yield from _breaks(handler.body)
