"""`if self.skip and self.args.stride == 1 and i == o:`: what a named tuple of a Cell holds is no
constant to the compiler, and so the whole test is none, and code is compiled that never runs.
"""

from __future__ import annotations

import ast

from migrate.lower.function import STEP, CompiledFunction
from migrate.pipeline import becomes, declare, same
from migrate.syntax.edits import Edit, Piece


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled"],
    examples=[
        becomes(
            "if self.skip and self.args.stride == 1:\n    x = x + 1",
            "if self.skip:\n    if self.args.stride == 1:\n        x = x + 1",
        ),
        same("if self.skip and self.stride == 1:\n    x = x + 1"),
    ],
)
def split_and(function: CompiledFunction) -> None:
    """One `if` for each part: those that are constants are settled on their own."""
    for statement in function.of_kind(ast.If):
        test = statement.test
        if statement.orelse or not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
            continue
        if not any(_compares_held(part, function) for part in test.values):
            continue
        if not function.begins_line(statement.body[0]):
            function.edits += list(function.own_lines(statement.body[0]))
        else:
            function.edits += _nested(statement, test.values, function)
        return


def _nested(statement: ast.If, parts: list[ast.expr], function: CompiledFunction) -> list[Edit]:
    source = function.source
    start, _ = source.span(statement)
    word = "elif" if source.text.startswith("elif", start) else "if"
    indent = source.indent_of(statement)
    pieces: list[Piece] = [f"{word} ", parts[0]]
    for depth, part in enumerate(parts[1:], 1):
        pieces += [f":\n{indent}{STEP * depth}if ", part]
    header = Edit(start, _colon(source.text, source.span(statement.test)[1]), tuple(pieces))
    return [header, *function.indented(statement.body, len(parts) - 1)]


def _colon(text: str, at: int) -> int:
    """Of the statement's head, behind its test; parentheses and comments may stand between."""
    while text[at] != ":":
        at = text.index("\n", at) if text[at] == "#" else at + 1
    return at


def _compares_held(part: ast.expr, function: CompiledFunction) -> bool:
    """`self.args.stride == 1`, beside other parts."""
    if not isinstance(part, ast.Compare) or not isinstance(part.left, ast.Attribute):
        return False
    holder, own = part.left.value, function.node.args.args[:1]
    return isinstance(holder, ast.Attribute) and getattr(holder.value, "id", "") in {
        argument.arg for argument in own
    }
