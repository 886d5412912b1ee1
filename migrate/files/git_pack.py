"""Read one object out of a pack: that an index lists it says nothing of a pack that is cut off.

An object is stored whole, or as a difference to another one in the same pack. Packs of a received
repository are hostile input: nothing is unpacked beyond the size that it states, and no object
beyond a size that sources have.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import IO

from migrate.files.plain import open_plain

_HEAD = 8 + 4 * 256  # of an index: signature, version, and a table of counts
_BLOB, _FROM_OFFSET, _FROM_NAME = 3, 6, 7
_LARGEST = 100_000_000  # bytes of an object, or of one that it is a difference to
_LONGEST_CHAIN = 4096  # differences to differences
_CHUNK = 1 << 16


def packed_blob(index: Path, name: bytes) -> bytes | None:
    """The content of a blob by its name, if the pack of this index really holds it."""
    try:
        with open_plain(index) as listed:
            offset = _offset_of(listed, name)
            if offset is None:
                return None
            with open_plain(index.with_suffix(".pack")) as pack:
                return _blob_at(pack, offset, listed, len(name))
    except (OSError, ValueError, IndexError, struct.error, zlib.error):
        return None


def _offset_of(index: IO[bytes], name: bytes) -> int | None:
    """Where the object begins in the pack, by an index of version 2."""
    index.seek(0)
    head = index.read(_HEAD)
    if head[:8] != b"\xfftOc\x00\x00\x00\x02" or len(head) < _HEAD:
        return None
    counts = struct.unpack(">256I", head[8:])
    width, total = len(name), counts[255]
    low, high = counts[name[0] - 1] if name[0] else 0, counts[name[0]]
    while low < high:
        middle = (low + high) // 2
        found = _read_at(index, _HEAD + middle * width, width)
        if found == name:
            offsets = _HEAD + total * (width + 4)  # behind the names and their checksums
            (offset,) = struct.unpack(">I", _read_at(index, offsets + 4 * middle, 4))
            if offset & 0x80000000:
                place = offsets + 4 * total + 8 * (offset & 0x7FFFFFFF)
                (offset,) = struct.unpack(">Q", _read_at(index, place, 8))
            return int(offset)
        if found < name:
            low = middle + 1
        else:
            high = middle
    return None


def _read_at(stream: IO[bytes], place: int, size: int) -> bytes:
    stream.seek(place)
    return stream.read(size)


def _blob_at(pack: IO[bytes], offset: int, index: IO[bytes], width: int) -> bytes | None:
    differences: list[bytes] = []
    while len(differences) < _LONGEST_CHAIN:
        pack.seek(offset)
        kind, size = _entry(pack)
        base: int | None = None
        if kind == _FROM_OFFSET:
            base = offset - _distance(pack)
        elif kind == _FROM_NAME:
            base = _offset_of(index, pack.read(width))
        elif kind != _BLOB:
            return None
        content = _unpacked(pack, size)
        if kind == _BLOB:
            for difference in reversed(differences):
                content = _applied(content, difference)
            return content
        if base is None or base <= 0:
            return None
        differences.append(content)
        offset = base
    return None


def _entry(pack: IO[bytes]) -> tuple[int, int]:
    """The kind of an object and its size when it is unpacked."""
    byte = pack.read(1)[0]
    kind, size, shift = (byte >> 4) & 7, byte & 15, 4
    while byte & 0x80:
        byte = pack.read(1)[0]
        size |= (byte & 0x7F) << shift
        shift += 7
        if shift > 70:
            raise ValueError("no size")
    return kind, size


def _distance(pack: IO[bytes]) -> int:
    byte = pack.read(1)[0]
    value = byte & 0x7F
    while byte & 0x80:
        byte = pack.read(1)[0]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value


def _unpacked(pack: IO[bytes], size: int) -> bytes:
    if size > _LARGEST:
        raise ValueError("too large")
    unpacker = zlib.decompressobj()
    parts, done = [], 0
    while not unpacker.eof:
        packed = unpacker.unconsumed_tail or pack.read(_CHUNK)
        if not packed:
            raise ValueError("cut off")
        parts.append(unpacker.decompress(packed, size + 1 - done))
        done += len(parts[-1])
        if done > size:
            raise ValueError("larger than it says")
    if done != size:
        raise ValueError("smaller than it says")
    return b"".join(parts)


def _applied(base: bytes, difference: bytes) -> bytes:
    """The object that a difference makes of its base: pieces of the base, and new ones."""
    _, place = _size(difference, 0)
    size, place = _size(difference, place)
    if size > _LARGEST:
        raise ValueError("too large")
    parts: list[bytes] = []
    done = 0
    while place < len(difference) and done <= size:
        code = difference[place]
        place += 1
        if code & 0x80:
            start, place = _number(difference, place, code, 4)
            length, place = _number(difference, place, code >> 4, 3)
            parts.append(base[start : start + (length or 0x10000)])
        elif code:
            parts.append(difference[place : place + code])
            place += code
        else:
            raise ValueError("no instruction")
        done += len(parts[-1])
    return b"".join(parts)


def _size(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80 or shift > 70:
            return value, place


def _number(data: bytes, place: int, present: int, width: int) -> tuple[int, int]:
    """A number of which only the bytes whose bit is set are stored."""
    value = 0
    for position in range(width):
        if present >> position & 1:
            value |= data[place] << (8 * position)
            place += 1
    return value, place
