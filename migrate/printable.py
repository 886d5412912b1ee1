"""Text from outside (file names, layer names, messages) made safe to print on a terminal."""

from __future__ import annotations

import json
import re
from typing import Any

# Control characters (escape sequences begin with one), lone surrogates (bytes of a file name that
# are no text), and the characters that reorder or hide what is around them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


def printable(text: str, keep: str = "\n\t") -> str:
    r"""The text with every unsafe character as its escape: `\x1b` for an escape character."""
    if text.isprintable():
        return text
    return _UNSAFE.sub(lambda match: match[0] if match[0] in keep else _escape(match[0]), text)


def json_text(value: Any, **options: Any) -> str:
    """As JSON that a terminal may show: the same characters are written as JSON's own escapes."""
    text = json.dumps(value, ensure_ascii=False, **options)
    return text if text.isprintable() else _UNSAFE.sub(_json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    # Line breaks between the fields are the layout's; within a text they are escapes already.
    return match[0] if match[0] == "\n" else json.dumps(match[0])[1:-1]


def _escape(character: str) -> str:
    if character.isascii():
        return f"\\x{ord(character):02x}"
    return character.encode("ascii", errors="backslashreplace").decode()
