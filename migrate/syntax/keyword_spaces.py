"""`if(torch.is_tensor(x))and(y):` with the spaces that it did without.

Parentheses may end a keyword; the expression that takes their place may have none, and libcst
refuses a tree in which two words touch.
"""

from __future__ import annotations

import io
import keyword
import tokenize

_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


def space_keywords(text: str) -> str:
    """The text with a space between every keyword and the bracket or string that it touches."""
    lines = text.split("\n")
    missing: list[tuple[int, int]] = []
    last: tokenize.TokenInfo | None = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if last is not None and last.end == token.start and _touch(last, token):
            missing.append(token.start)
        last = token
    for row, column in reversed(missing):
        line = lines[row - 1]
        lines[row - 1] = f"{line[:column]} {line[column:]}"
    return "\n".join(lines)


def _touch(left: tokenize.TokenInfo, right: tokenize.TokenInfo) -> bool:
    if _is_keyword(left):
        return right.string in _OPENING or right.type == tokenize.STRING
    return _is_keyword(right) and (
        left.string in _CLOSING or left.type in (tokenize.STRING, tokenize.NUMBER)
    )


def _is_keyword(token: tokenize.TokenInfo) -> bool:
    word = token.type == tokenize.NAME and keyword.iskeyword(token.string)
    return word and token.string not in ("None", "True", "False")
