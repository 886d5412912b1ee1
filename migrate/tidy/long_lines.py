"""Lines that porting made too long are broken as a formatter would break them.

MindSpore's arguments are written out, so a call often outgrows its line. Only lines that the source
did not have are touched, and only by line ends inside brackets and by a trailing comma.
"""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass
from itertools import pairwise

from migrate.pipeline import becomes, declare

_NARROWEST, _WIDEST = 100, 120  # a file's own longest line counts in between
_BRACKETS = _OPEN, _CLOSE = "([{", ")]}"
_JOINS = (".", "->")
_ODD = (tokenize.COMMENT, tokenize.ERRORTOKEN)
_SHARE = 3  # brackets that hold less than a third of a line do not shorten it


@declare(
    phase="tidy",
    unit="text",
    examples=[
        becomes(
            "layer = nn.Conv2d(in_channels, out_channels, kernel_size, stride=stride, "
            "pad_mode='pad', has_bias=True)",
            """
            layer = nn.Conv2d(
                in_channels, out_channels, kernel_size, stride=stride, pad_mode='pad', has_bias=True
            )
            """,
        ),
    ],
)
def break_long_lines(code: str, source: str) -> str:
    """The code with its new long lines broken; the code itself where that would change it."""
    before = source.split("\n")
    width = min(max(max(map(len, before)), _NARROWEST), _WIDEST)
    lines = code.split("\n")
    if max(map(len, lines)) <= width:
        return code
    known = set(before)
    split = False
    new = list(lines)
    for at, text in enumerate(lines):
        if len(text) > width and text not in known:
            line = _whole_line(text, lines[:at])
            if line is not None:
                new[at] = "\n".join(_broken(line, width))
                split |= line.inside and new[at] != text
    broken = "\n".join(new)
    return code if split and not _is_python(broken) else broken


@dataclass(slots=True)
class _Line:
    """One line of text whose brackets close on it."""

    indent: str
    text: str  # without the indent
    inside: bool  # between the brackets of an earlier line

    def fits(self, width: int) -> bool:
        return len(self.indent) + len(self.text) <= width


def _whole_line(text: str, above: list[str]) -> _Line | None:
    """A line that can be broken by itself: no comment, no piece of a longer string, no bracket that
    another line opens or closes.
    """
    bare = text.strip()
    tokens = _pieces(bare)
    if tokens is None or any(token.type in _ODD for token in tokens):
        return None
    last = next((line.strip() for line in reversed(above) if line.strip()), "")
    inside = last.endswith((",", "(", "[", "{")) and not last.startswith("#")
    return _Line(text[: len(text) - len(text.lstrip())], bare, inside)


def _broken(line: _Line, width: int) -> list[str]:
    if line.fits(width):
        return [line.indent + line.text]
    parts = (line.inside and _at_elements(line)) or _at_bracket(line, width) or []
    return [text for part in parts for text in _broken(part, width)] or [line.indent + line.text]


def _at_elements(line: _Line) -> list[_Line]:
    """One element a line, or one `for` of a comprehension; nothing where there are none."""
    commas: list[int] = []
    loops: list[int] = []
    depth = 0
    for token in _pieces(line.text) or []:
        if token.type == tokenize.OP:
            depth += (token.string in _OPEN) - (token.string in _CLOSE)
            if token.string == "," and depth == 0:
                commas.append(token.end[1])
        elif depth == 0 and token.string == "for":
            loops.append(token.start[1])
        elif depth == 0 and token.string == "lambda":
            return []
    cuts = [0, *(loops or commas), len(line.text)]
    texts = [line.text[a:b].strip() for a, b in pairwise(cuts)]
    texts = [text if loops or text.endswith(",") else f"{text}," for text in texts if text]
    return [_Line(line.indent, text, True) for text in texts] if len(texts) > 1 else []


def _at_bracket(line: _Line, width: int) -> list[_Line]:
    """What the longest pair of brackets holds goes on lines of its own, if it is worth a line."""
    for start, end in sorted(_bracket_pairs(line.text), key=lambda pair: pair[0] - pair[1]):
        if (end - start) * _SHARE < len(line.text):
            break
        head = _Line(line.indent, line.text[: start + 1], line.inside)
        deeper = line.indent + ("\t" if "\t" in line.indent else "    ")
        body = _Line(deeper, line.text[start + 1 : end].strip(), True)
        tail = _Line(line.indent, line.text[end:], line.inside)
        if body.text and head.fits(width) and tail.fits(width) and _only_trails(tail.text):
            return [head, body, tail]
    return []


def _only_trails(text: str) -> bool:
    """`).mean(axis=1)` and `):` belong to what the bracket closes; `), other` is more than that."""
    depth = 0
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(f"({text.rstrip(':,')}").readline):
        opens, closes = (token.type == tokenize.OP and token.string in kind for kind in _BRACKETS)
        joined = opens or token.string in _JOINS or before in _JOINS
        if depth == 0 and token.string.strip() and not joined:
            return False
        depth += opens - closes
        before = token.string
    return True


def _bracket_pairs(text: str) -> list[tuple[int, int]]:
    """The brackets that stand in no others: where they open and close.

    Curly ones are left alone: in newer Pythons those of an f-string are tokens, too.
    """
    opened: list[tokenize.TokenInfo] = []
    found: list[tuple[int, int]] = []
    for token in _pieces(text) or []:
        if token.type != tokenize.OP:
            continue
        if token.string in _OPEN:
            opened.append(token)
        elif token.string in _CLOSE:
            start = opened.pop()
            if not opened and start.string in "([":
                found.append((start.start[1], token.start[1]))
    return found


def _pieces(text: str) -> list[tokenize.TokenInfo] | None:
    """The tokens of a line; None where its brackets do not close on it."""
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return None


def _is_python(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True
