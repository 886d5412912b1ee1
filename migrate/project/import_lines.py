"""The imports of a file by its bytes alone: quick enough to ask of every file of a tree."""

from __future__ import annotations

import re
import unicodedata
from codecs import BOM_UTF8
from collections.abc import Iterator

# A statement begins a line, follows `;` or the `:` of `try: import torch`, or is text for `exec`.
_IMPORT = re.compile(
    rb"(?:^|[;:\"'])[ \t\f]*"
    rb"(?:from[ \t\f]*(\.*)[ \t\f]*((?:(?!import\b)[\w\x80-\xff][\w.\x80-\xff]*)?)"
    rb"[ \t\f]*\bimport\b[ \t\f]*(\([^)]*\)|[^;#\n]+)"
    rb"|import[ \t\f]+([^;#\n]+))",
    re.MULTILINE,
)
# `import_module("models.net")`, `import_module(".net", __package__)`, `__import__("torch")`.
_DYNAMIC = re.compile(
    rb"(?:import_module|__import__)\s*\(\s*(?:name\s*=\s*)?[rRuUfF]?[\"']+(\.*)([\w.\x80-\xff]*)"
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
    for part in _around(b"import", data):
        for dots, base, members, plain in _IMPORT.findall(part):
            if plain:
                parts = (words.split() for words in _text(plain).split(","))
                found += [(0, words[0].strip("\"'()")) for words in parts if words]
                continue
            module = _text(base)
            found.append((len(dots), module))
            names = _NAME.findall(_text(members))
            found += [(len(dots), f"{module}.{name}" if module else name) for name in names]
    if b"import_module" in data or b"__import__" in data:
        called = _DYNAMIC.findall(data)
        found += [(len(dots), _text(module).strip(".")) for dots, module in called]
    return found


def _around(word: bytes, data: bytes) -> Iterator[bytes]:
    """The lines that have a word, to the closing bracket where they open one: a search for a word
    is many times as fast as one for a pattern.
    """
    at = data.find(word)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if b"(" in data[at:end]:
            end = max(end, data.find(b")", at) + 1)
        yield data[start:end]
        at = data.find(word, end)


def _text(part: bytes) -> str:
    """Names as Python reads them: letters of full width are ordinary ones."""
    text = part.decode(errors="ignore")
    return text if text.isascii() else unicodedata.normalize("NFKC", text)
