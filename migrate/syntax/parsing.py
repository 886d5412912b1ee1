"""Parse a file so that its tree gives back every byte.

libcst drops lines at the end of a file, comments among them, when a line with nothing but blanks
follows: `x = 1`, an indented comment, and a last line of two blanks come back as `x = 1` alone.
"""

from __future__ import annotations

import re

import libcst as cst

_EMPTY_LINE = re.compile(r"([ \t\f]*)(#[^\n]*)?(\n|\Z)")


def parse(text: str) -> cst.Module:
    """The tree of a text whose lines end with `\\n`."""
    module = cst.parse_module(text)
    end = _end_of_code(text)
    if not _is_at_risk(text[end:]) or module.code == text:
        return module
    try:
        repaired = _with_footer(cst.parse_module(text[:end]), text[end:])
    except cst.ParserSyntaxError:  # the code alone ends in a continued line
        return module
    return repaired if repaired.code == text else module


def _end_of_code(text: str) -> int:
    """Where the blank lines and comments at the end of the file begin."""
    end = len(text)
    while end > 0:
        start = text.rfind("\n", 0, end - 1) + 1
        line = text[start:end].strip(" \t\f\n")
        if line and not line.startswith("#"):
            break
        end = start
    return end


def _is_at_risk(tail: str) -> bool:
    return any(line[:1] in (" ", "\t", "\f") for line in tail.split("\n"))


def _with_footer(module: cst.Module, tail: str) -> cst.Module:
    """The tree of the code, with the lines behind it one by one."""
    found = [match for match in _EMPTY_LINE.finditer(tail) if match[0]]
    lines = [
        cst.EmptyLine(
            indent=False,
            whitespace=cst.SimpleWhitespace(match[1]),
            comment=cst.Comment(match[2]) if match[2] else None,
        )
        for match in found
    ]
    return module.with_changes(footer=lines, has_trailing_newline=tail.endswith("\n"))
