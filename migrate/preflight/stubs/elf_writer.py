"""Write a shared library for x86_64 whose functions all do nothing: no compiler is needed.

Every function symbol points at the same few bytes of code: one returns 0, the other returns the
address of a zeroed block, for functions whose result the caller reads from. Data symbols point at
that block too.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence

_PAGE = 0x1000
_BLOCK = 0x10000
_FUNCTION, _OBJECT = 0x12, 0x11  # global binding, type
_LOAD, _DYNAMIC, _STACK = 1, 2, 0x6474E551
_READ, _WRITE, _RUN = 4, 2, 1
# xor eax, eax; ret
_RETURN_ZERO = b"\x31\xc0\xc3"
# lea rax, [rip + distance]; ret
_RETURN_BLOCK = b"\x48\x8d\x05"


def shared_library(
    name: str,
    needed: Sequence[str],
    functions: Collection[str],
    pointers: Collection[str] = (),
    objects: Collection[str] = (),
) -> bytes:
    """The file's content: functions return 0, pointers the zeroed block, objects are that block."""
    names = [*sorted(functions), *sorted(pointers), *sorted(objects)]
    strings, offsets = _strings([name, *needed, *names])
    table = _hash_table(names)
    header_size = 64 + 56 * 5
    hash_at = _align(header_size, 8)
    symbols_at = _align(hash_at + len(table), 8)
    strings_at = symbols_at + 24 * (len(names) + 1)
    code_at = _align(strings_at + len(strings), _PAGE)
    dynamic_at = code_at + _PAGE
    block_at = dynamic_at + _PAGE

    zero_at, pointer_at = code_at, code_at + 16
    distance = block_at - (pointer_at + 7)
    code = _RETURN_ZERO.ljust(16, b"\xcc") + _RETURN_BLOCK + struct.pack("<i", distance) + b"\xc3"
    values = (
        [(offsets[word], _FUNCTION, 2, zero_at) for word in sorted(functions)]
        + [(offsets[word], _FUNCTION, 2, pointer_at) for word in sorted(pointers)]
        + [(offsets[word], _OBJECT, 3, block_at) for word in sorted(objects)]
    )
    symbols = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", text, kind, 0, section, address, 16)
        for text, kind, section, address in values
    )
    dynamic = b"".join(
        struct.pack("<QQ", tag, value)
        for tag, value in (
            *((1, offsets[word]) for word in needed),  # DT_NEEDED
            (14, offsets[name]),  # DT_SONAME
            (4, hash_at),  # DT_HASH
            (5, strings_at),  # DT_STRTAB
            (6, symbols_at),  # DT_SYMTAB
            (10, len(strings)),  # DT_STRSZ
            (11, 24),  # DT_SYMENT
            (0, 0),
        )
    )
    segments = b"".join(
        struct.pack("<IIQQQQQQ", kind, flags, at, at, at, size, memory, align)
        for kind, flags, at, size, memory, align in (
            (_LOAD, _READ, 0, strings_at + len(strings), strings_at + len(strings), _PAGE),
            (_LOAD, _READ | _RUN, code_at, len(code), len(code), _PAGE),
            (_LOAD, _READ | _WRITE, dynamic_at, _PAGE, _PAGE + _BLOCK, _PAGE),
            (_DYNAMIC, _READ | _WRITE, dynamic_at, len(dynamic), len(dynamic), 8),
            (_STACK, _READ | _WRITE, 0, 0, 0, 16),
        )
    )
    image = bytearray(dynamic_at + _PAGE)
    for at, part in (
        (0, _header() + segments),
        (hash_at, table),
        (symbols_at, symbols),
        (strings_at, strings),
        (code_at, code),
        (dynamic_at, dynamic),
    ):
        image[at : at + len(part)] = part
    return bytes(image)


def _header() -> bytes:
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    # A shared object (3) for x86_64 (62), 5 program headers after this one, no section table.
    return identity + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 5, 64, 0, 0)


def _strings(words: Sequence[str]) -> tuple[bytes, dict[str, int]]:
    text = bytearray(b"\0")
    offsets: dict[str, int] = {}
    for word in words:
        if word not in offsets:
            offsets[word] = len(text)
            text += word.encode() + b"\0"
    return bytes(text), offsets


def _hash_table(names: Sequence[str]) -> bytes:
    """The System V hash table; symbol 0 is the empty one."""
    count = max(1, len(names) // 2 | 1)
    buckets = [0] * count
    chains = [0] * (len(names) + 1)
    for index, name in enumerate(names, 1):
        bucket = _hash(name) % count
        chains[index] = buckets[bucket]
        buckets[bucket] = index
    return struct.pack(f"<{2 + count + len(chains)}I", count, len(chains), *buckets, *chains)


def _hash(name: str) -> int:
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value


def _align(value: int, size: int) -> int:
    return -(-value // size) * size
