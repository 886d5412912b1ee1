"""What git could give back, read from the repository's files; git itself is never started.

A repository that came from elsewhere may name programs in its configuration (file system
monitors, filters, hooks) which `git status` would run. The index and the object store are plain
data: a file can be given back when its content is what the index records, and that object exists.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from migrate.files.git_pack import packed_blob
from migrate.files.git_settings import Settings, read_settings, read_text
from migrate.files.plain import read_plain

_ENTRY = struct.Struct(">10I")
_LONGEST_INDEX = 500_000_000  # bytes
_LONGEST_HEADER = 40  # bytes: "blob ", a size, a null
_EXTENDED = 0x4000  # an entry flag: two more bytes of flags follow (from version 3 on)
_MODE_TYPE, _REGULAR = 0o170000, 0o100000


class UnreadableIndex(Exception):
    """The repository is of a kind that is not understood here."""


@dataclass
class Repository:
    """The index and the object directories of one working tree."""

    top: Path  # the working tree, resolved
    folder: Path  # its git directory
    settings: Settings = field(default_factory=Settings)
    entries: dict[bytes, bytes] = field(default_factory=dict)  # path in the tree -> object id
    _objects: list[Path] = field(default_factory=list)

    def restores(self, path: Path, content: bytes) -> bool:
        """Whether `git checkout -- path` would bring this content back."""
        try:
            inside = path.resolve().relative_to(self.top)
        except (ValueError, OSError):
            return False
        wanted = self.entries.get(os.fsencode(inside.as_posix()))
        if wanted is None:
            return False
        if self.settings.identifies and b"$Id" in content:
            return False
        same = wanted == self._identify(content)
        if (
            not same
            and self.settings.converts_line_ends
            and content.count(b"\r\n") == content.count(b"\n")
        ):
            same = wanted == self._identify(content.replace(b"\r\n", b"\n"))
        return same and self._has(wanted, len(content))

    def tracks(self, path: Path) -> bool:
        try:
            inside = path.resolve().relative_to(self.top)
        except (ValueError, OSError):
            return False
        return os.fsencode(inside.as_posix()) in self.entries

    def _identify(self, content: bytes) -> bytes:
        header = b"blob %d\0" % len(content)
        return self._hashed(header + content)

    def _has(self, name: bytes, size: int) -> bool:
        """Whether an object of at most `size` bytes is in the store: as a file of its own, or in a
        pack.
        """
        text = name.hex()
        for store in self._objects:
            if self._is_whole(store / text[:2] / text[2:], name, size):
                return True
            for index in sorted((store / "pack").glob("*.idx")):
                blob = packed_blob(index, name)
                if blob is not None and self._identify(blob) == name:
                    return True
        return False

    def _is_whole(self, path: Path, name: bytes, size: int) -> bool:
        """A power cut leaves empty object files, from which git gives nothing back. No more is
        unpacked than such an object has: a small file may unpack to any size.
        """
        try:
            packed = read_plain(path, _LONGEST_INDEX)
            unpacker = zlib.decompressobj()
            content = unpacker.decompress(packed, size + _LONGEST_HEADER)
        except (OSError, zlib.error):
            return False
        return unpacker.eof and self._hashed(content) == name

    def _hashed(self, content: bytes) -> bytes:
        return hashlib.new(
            "sha256" if self.settings.sha256 else "sha1", content, usedforsecurity=False
        ).digest()


def find_repository(path: Path) -> Repository | None:
    """The repository that `path` lies in, if there is one; raises UnreadableIndex."""
    start = path.resolve()
    for top in (start, *start.parents):
        mark = top / ".git"
        if mark.is_dir():
            return _open(top, mark)
        if mark.is_file():  # a linked working tree or a submodule
            try:
                text = read_text(mark)
                folder = (top / text.removeprefix("gitdir:").strip()).resolve()
            except (OSError, ValueError) as error:
                raise UnreadableIndex(f"its .git cannot be read ({error})") from None
            if text.startswith("gitdir:"):
                return _open(top, folder)
    return None


def _open(top: Path, folder: Path) -> Repository:
    common = folder
    try:
        if (folder / "commondir").is_file():
            common = (folder / read_text(folder / "commondir").strip()).resolve()
        settings = read_settings(top, folder, common)
        if settings.elsewhere:
            raise UnreadableIndex("its index is that of another working tree")
        if settings.replaces:
            raise UnreadableIndex("it replaces objects by others")
        repository = Repository(top, folder, settings)
        repository._objects = _stores(common / "objects")
        index = folder / "index"
        if index.is_file():
            width = 32 if settings.sha256 else 20
            repository.entries = parse_index(read_plain(index, _LONGEST_INDEX), width)
    except (OSError, ValueError, struct.error, IndexError) as error:
        raise UnreadableIndex(f"its index cannot be read ({error})") from None
    return repository


def _stores(first: Path) -> list[Path]:
    """The object directory and the ones it borrows from."""
    found: list[Path] = []
    pending = [first]
    while pending and len(found) < 20:
        store = pending.pop()
        if store in found or not store.is_dir():
            continue
        found.append(store)
        alternates = store / "info" / "alternates"
        if alternates.is_file():
            lines = read_text(alternates).splitlines()
            pending += [(store / line).resolve() for line in lines if line and line[0] != "#"]
    return found


def parse_index(data: bytes, width: int) -> dict[bytes, bytes]:
    """Path to object id of every regular file at stage 0; `width` is the length of an id."""
    signature, version, count = struct.unpack_from(">4sII", data, 0)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise UnreadableIndex("its index has an unknown format")
    entries: dict[bytes, bytes] = {}
    place, previous = 12, b""
    for _ in range(count):
        start = place
        mode = _ENTRY.unpack_from(data, place)[6]
        place += _ENTRY.size
        name = data[place : place + width]
        (flags,) = struct.unpack_from(">H", data, place + width)
        place += width + 2
        if flags & _EXTENDED:
            place += 2
        if version == 4:  # the path shares its beginning with the one before
            strip, place = _offset(data, place)
            end = data.index(b"\0", place)
            path = previous[: len(previous) - strip] + data[place:end]
            place = end + 1
        else:
            end = data.index(b"\0", place)
            path = data[place:end]
            place = start + ((end - start + 8) // 8) * 8
        previous = path
        if not flags & 0x3000 and mode & _MODE_TYPE == _REGULAR:
            entries[path] = name
    _check_extensions(data, place, len(data) - width)
    return entries


def _offset(data: bytes, place: int) -> tuple[int, int]:
    """A number in the variable length that packs use."""
    value = data[place] & 0x7F
    while data[place] & 0x80:
        place += 1
        value = ((value + 1) << 7) | (data[place] & 0x7F)
    return value, place + 1


def _check_extensions(data: bytes, place: int, end: int) -> None:
    """An extension whose name begins with a small letter changes what the entries mean."""
    while place + 8 <= end:
        name, size = struct.unpack_from(">4sI", data, place)
        if not 65 <= name[0] <= 90:
            raise UnreadableIndex("its index is split or sparse")
        place += 8 + size
