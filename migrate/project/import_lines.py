"""The imports of a file by its bytes alone: quick enough to ask of every file of a tree."""

from __future__ import annotations

import re
import unicodedata
from codecs import BOM_UTF8

# A statement begins a line, or follows `;` or the `:` of `try: import torch`.
_IMPORT = re.compile(
    rb"(?:^|[;:])[ \t\f]*(?:from[ \t]*(\.*)[ \t]*((?:(?!import\b)[\w\x80-\xff][\w.\x80-\xff]*)?)"
    rb"[ \t]*\bimport\b[ \t]*(\([^)]*\)|[^;#\n]+)"
    rb"|import[ \t]+([^;#\n]+))",
    re.MULTILINE,
)
_CONTINUED = re.compile(rb"\\\r?\n")
_NAME = re.compile(r"[\w.]+")


def imports_in(data: bytes) -> list[tuple[int, str]]:
    """(dots, module) of everything imported; a name out of a module may be a module itself."""
    found: list[tuple[int, str]] = []
    data = data.removeprefix(BOM_UTF8)
    if b"\\" in data:
        data = _CONTINUED.sub(b" ", data)
    if b"\r" in data:
        data = data.replace(b"\r", b"\n")
    for dots, base, members, plain in _IMPORT.findall(data):
        if plain:
            parts = (part.split() for part in _text(plain).split(","))
            found += [(0, words[0]) for words in parts if words]
            continue
        module = _text(base)
        found.append((len(dots), module))
        names = _NAME.findall(_text(members))
        found += [(len(dots), f"{module}.{name}" if module else name) for name in names]
    return found


def _text(part: bytes) -> str:
    """Names as Python reads them: letters of full width are ordinary ones."""
    text = part.decode(errors="ignore")
    return text if text.isascii() else unicodedata.normalize("NFKC", text)
