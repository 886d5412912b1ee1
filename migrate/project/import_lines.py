"""The imports of a file by its bytes alone: quick enough to ask of every file of a tree."""

from __future__ import annotations

import re
from codecs import BOM_UTF8

_IMPORT = re.compile(
    rb"(?:^|;)[ \t\f]*(?:from[ \t]*(\.*)[ \t]*((?:(?!import\b)\w[\w.]*)?)[ \t]*\bimport\b[ \t]*"
    rb"(\([^)]*\)|[^#\n]+)"
    rb"|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
_NAME = re.compile(r"[\w.]+")


def imports_in(data: bytes) -> list[tuple[int, str]]:
    """(dots, module) of everything imported; a name out of a module may be a module itself."""
    found: list[tuple[int, str]] = []
    data = data.removeprefix(BOM_UTF8)
    if b"\r" in data:
        data = data.replace(b"\r", b"\n")
    for dots, base, members, plain in _IMPORT.findall(data):
        if plain:
            parts = (part.split() for part in plain.decode(errors="ignore").split(","))
            found += [(0, words[0]) for words in parts if words]
            continue
        module = base.decode(errors="ignore")
        found.append((len(dots), module))
        names = _NAME.findall(members.decode(errors="ignore"))
        found += [(len(dots), f"{module}.{name}" if module else name) for name in names]
    return found
