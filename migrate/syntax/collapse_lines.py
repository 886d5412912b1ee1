"""An expression on one line: what stood between brackets may move to where no brackets are."""

from __future__ import annotations

import io
import tokenize
from itertools import pairwise

import libcst as cst

from migrate.syntax.nodes import expression
from migrate.syntax.text import code

_LAYOUT = (tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER)


def on_one_line(node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression without line breaks; in brackets of its own where it holds a comment."""
    text = code(node)
    if "\n" not in text:
        return node
    tokens = list(tokenize.generate_tokens(io.StringIO(f"({text})").readline))
    if any(token.type == tokenize.COMMENT for token in tokens):
        return expression(f"({text})")
    words = [token for token in tokens if token.type not in _LAYOUT]
    joined = words[0].string
    for before, word in pairwise(words):
        if word.start[0] == before.end[0]:
            joined += " " * (word.start[1] - before.end[1])
        elif before.string not in "([{" and word.string not in ")]}":
            joined += " "
        joined += word.string
    return expression(joined[1:-1].strip())
