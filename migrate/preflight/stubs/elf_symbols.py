"""Read which dynamic symbols an ELF library defines and which it expects of others."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

_DYNAMIC, _DYNSYM, _VERSYM = 6, 11, 0x6FFFFFFF
_NEEDED = 1
_WEAK = 2
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_ENTRY = struct.Struct("<qQ")
# Entries 0 and 1 of the version table mean "local" and "global": no version of any library.
_VERSIONED = 2


@dataclass(frozen=True)
class Symbols:
    """The names in a library's dynamic symbol table."""

    defined: frozenset[str]
    # Neither defined here nor bound to a version of a system library.
    missing: frozenset[str]
    # Libraries that are loaded with this one.
    needed: frozenset[str] = frozenset()


def read(path: Path) -> Symbols:
    """Read a 64-bit little-endian library."""
    with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is not a 64-bit ELF library")
        sections = _sections(data)
        table = next((section for section in sections if section[1] == _DYNSYM), None)
        if table is None:
            return Symbols(frozenset(), frozenset())
        strings = sections[table[6]]
        text = data[strings[4] : strings[4] + strings[5]]
        symbols = data[table[4] : table[4] + table[5]]
        versions = _versions(data, sections, len(symbols) // _SYMBOL.size)
        needed = _needed(data, sections)
    defined, missing = set(), set()
    for (name, info, _, section, _, _), version in zip(
        _SYMBOL.iter_unpack(symbols), versions, strict=True
    ):
        if not name:
            continue
        word = text[name : text.index(b"\0", name)].decode("ascii", "replace")
        if section:
            defined.add(word)
        elif info >> 4 != _WEAK and version & 0x7FFF < _VERSIONED:
            missing.add(word)
    return Symbols(frozenset(defined), frozenset(missing - defined), needed)


def _needed(data: mmap.mmap, sections: list[tuple[int, ...]]) -> frozenset[str]:
    table = next((section for section in sections if section[1] == _DYNAMIC), None)
    if table is None:
        return frozenset()
    strings = sections[table[6]]
    text = data[strings[4] : strings[4] + strings[5]]
    entries = _ENTRY.iter_unpack(data[table[4] : table[4] + table[5]])
    starts = [value for tag, value in entries if tag == _NEEDED]
    return frozenset(text[start : text.index(b"\0", start)].decode() for start in starts)


def _sections(data: mmap.mmap) -> list[tuple[int, ...]]:
    start = struct.unpack_from("<Q", data, 0x28)[0]
    size, count = struct.unpack_from("<HH", data, 0x3A)
    return [_SECTION.unpack_from(data, start + index * size) for index in range(count)]


def _versions(
    data: mmap.mmap, sections: list[tuple[int, ...]], count: int
) -> tuple[int, ...] | list[int]:
    table = next((section for section in sections if section[1] == _VERSYM), None)
    if table is None:
        return [0] * count
    return struct.unpack_from(f"<{count}H", data, table[4])
