"""Source that this interpreter cannot parse because it is written for a newer one.

Files are resolved on the trees of the running Python, so its grammar is the limit; libcst knows
later grammars and tells such a file from one that is wrong in every Python.
"""

from __future__ import annotations

import re
from typing import Any

_FSTRING = re.compile(r"""\b[fF][rR]?["']|\b[rR][fF]["']""")


_SIGN = re.compile(
    r"""^\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[|^\s*type\s+\w+|\b[tT][rR]?["']""", re.MULTILINE
)
_DEEPEST = 150  # brackets; Python's own parser takes 200

# libcst's name of a node -> the Python that has it, and what people call it.
_SYNTAX = {
    "TypeParameters": ("3.12", "type parameters"),
    "TypeAlias": ("3.12", "a type statement"),
    "TemplatedString": ("3.14", "template strings"),
}


def newer_python(text: str, line: str, message: str) -> tuple[str, str] | None:
    """The version that reads the text and the syntax that needs it; None for plain mistakes."""
    in_text = message.startswith("f-string") or _FSTRING.search(line) is not None
    if not (_SIGN.search(text) or in_text) or _depth(text) > _DEEPEST:
        return None
    import libcst as cst

    try:
        module = cst.parse_module(text)
    except Exception:  # whatever the parser has against it, no Python reads it
        return None
    found = [_SYNTAX[name] for name in _kinds(module) if name in _SYNTAX]
    if found:
        return max(found)
    if in_text:
        return "3.12", "f-strings with quotes, backslashes or comments inside"
    return None


def _depth(text: str) -> int:
    """How deeply brackets may be nested: libcst's parser has no limit but the stack."""
    depth = deepest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth = max(0, depth - 1)
    return deepest


def _kinds(module: Any) -> set[str]:
    """The types of all nodes, without recursion."""
    kinds: set[str] = set()
    pending = [module]
    while pending:
        node = pending.pop()
        kinds.add(type(node).__name__)
        pending += node.children
    return kinds
