"""`# ms-migrate: ignore[MS307]` at the end of a statement, above it, or for the whole file.

y = x.view(n)  # ms-migrate: ignore[MS307]
# ms-migrate: ignore[MS403, MS404]
z = layer(
    y)
# ms-migrate: ignore-file[MS4]
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

_COMMENT = re.compile(r"#\s*ms-migrate:\s*(ignore-file|ignore)\s*(?:\[([^\]]*)\])?\s*$")
_ALL = ("",)  # every code begins with nothing


class Suppressions:
    """The comments of one text: which codes they silence, and on which lines."""

    def __init__(self, text: str) -> None:
        self._file: tuple[str, ...] = ()
        self._lines: dict[int, tuple[str, ...]] = {}
        if "ms-migrate:" in text and "ignore" in text:
            self._read(text)

    def covers(self, line: int, code: str) -> bool:
        """Whether a finding with this code on this line is silenced."""
        return code.startswith((*self._file, *self._lines.get(line, ())))

    def _read(self, text: str) -> None:
        waiting: tuple[str, ...] = ()  # of a comment that stands alone
        for first, last, codes, has_code, whole_file in _statements(text):
            if whole_file:
                self._file += codes
            elif not has_code:
                waiting += codes
            else:
                for line in range(first, last + 1):
                    self._lines[line] = self._lines.get(line, ()) + codes + waiting
                waiting = ()


def _statements(text: str) -> Iterator[tuple[int, int, tuple[str, ...], bool, bool]]:
    """For each logical line: its first and last line, the codes in its comments, whether there is
    code on it, and whether the comment speaks of the file.
    """
    first, has_code = 0, False
    codes: tuple[str, ...] = ()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                match = _COMMENT.match(token.string)
                if match is not None:
                    found = _codes(match[2])
                    if match[1] == "ignore-file":
                        yield token.start[0], token.end[0], found, False, True
                    else:
                        codes += found
            if token.type in (tokenize.NEWLINE, tokenize.NL):
                alone = token.type == tokenize.NL and not has_code
                if token.type == tokenize.NEWLINE or (alone and codes):
                    yield first or token.start[0], token.start[0], codes, has_code, False
                    first, codes, has_code = 0, (), False
            elif token.type not in (tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
                first, has_code = first or token.start[0], True
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return  # the file is refused for it elsewhere


def _codes(listed: str | None) -> tuple[str, ...]:
    words = tuple(word.strip().upper() for word in (listed or "").split(",") if word.strip())
    return words or _ALL
