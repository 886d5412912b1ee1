"""What git could give back, read from the repository's files; git itself is never started.

A repository that came from elsewhere may name programs in its configuration (file system
monitors, filters, hooks) which `git status` would run. The index and the object store are plain
data: a file can be given back when its content is what the index records, and that object exists.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from migrate.files.plain import open_plain, read_plain

_OBJECT_FORMAT = re.compile(r"^\s*objectformat\s*=\s*sha256\s*$", re.IGNORECASE | re.MULTILINE)
_ENTRY = struct.Struct(">10I")
# With one of these, git writes the line ends of Windows where the object has those of Unix.
_CONVERTS = re.compile(rb"^\s*(autocrlf\s*=\s*true|eol\s*=\s*crlf)\s*$|\beol=crlf\b", re.I | re.M)
# An index of another place: `git checkout` would write there.
_WORKTREE = re.compile(r"^\s*worktree\s*=\s*\"?(.*?)\"?\s*$", re.IGNORECASE | re.MULTILINE)
_LONGEST_INDEX = 500_000_000  # bytes
_LONGEST_TEXT = 5_000_000
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
    digest: str  # sha1 or sha256
    entries: dict[bytes, bytes] = field(default_factory=dict)  # path in the tree -> object id
    converts: bool = False  # the line ends of objects, when they are checked out
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
        same = wanted == self._identify(content)
        if not same and self.converts and content.count(b"\r\n") == content.count(b"\n"):
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
                if index.with_suffix(".pack").is_file() and _in_pack(index, name):
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
        return hashlib.new(self.digest, content, usedforsecurity=False).digest()


def find_repository(path: Path) -> Repository | None:
    """The repository that `path` lies in, if there is one; raises UnreadableIndex."""
    start = path.resolve()
    for top in (start, *start.parents):
        mark = top / ".git"
        if mark.is_dir():
            return _open(top, mark)
        if mark.is_file():  # a linked working tree or a submodule
            try:
                text = _text(mark)
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
            common = (folder / _text(folder / "commondir").strip()).resolve()
        config = _text(common / "config")
        named = _WORKTREE.search(config)
        if named is not None and (common / named[1]).resolve() != top:
            raise UnreadableIndex("its index is that of another working tree")
        digest = "sha256" if _OBJECT_FORMAT.search(config) else "sha1"
        repository = Repository(top, folder, digest)
        repository._objects = _stores(common / "objects")
        repository.converts = _converts_line_ends(top, common, config)
        index = folder / "index"
        if index.is_file():
            width = 32 if digest == "sha256" else 20
            repository.entries = parse_index(read_plain(index, _LONGEST_INDEX), width)
    except (OSError, ValueError, struct.error, IndexError) as error:
        raise UnreadableIndex(f"its index cannot be read ({error})") from None
    return repository


def _text(path: Path) -> str:
    return read_plain(path, _LONGEST_TEXT).decode("utf-8", errors="surrogateescape")


def _converts_line_ends(top: Path, common: Path, config: str) -> bool:
    """What the repository, its attributes and the user's own settings say of line ends."""
    if _CONVERTS.search(config.encode("utf-8", errors="surrogateescape")):
        return True
    home = Path(os.path.expanduser("~"))
    places = (
        top / ".gitattributes",
        common / "info" / "attributes",
        home / ".gitconfig",
        home / ".config/git/config",
    )
    return any(_CONVERTS.search(read_plain(p, _LONGEST_TEXT)) for p in places if p.is_file())


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
            lines = _text(alternates).splitlines()
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


def _in_pack(index: Path, name: bytes) -> bool:
    """Look an object up in a pack's index (version 2) without reading all of it."""
    try:
        stream = open_plain(index)
    except OSError:
        return False
    with stream as file:
        head = file.read(8 + 1024)
        if head[:8] != b"\xfftOc\x00\x00\x00\x02" or len(head) < 8 + 1024:
            return False
        fan = struct.unpack(">256I", head[8:])
        low, high = fan[name[0] - 1] if name[0] else 0, fan[name[0]]
        while low < high:
            middle = (low + high) // 2
            file.seek(8 + 1024 + middle * len(name))
            found = file.read(len(name))
            if found == name:
                return True
            if found < name:
                low = middle + 1
            else:
                high = middle
    return False
