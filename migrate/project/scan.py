"""What the bytes of a file say without parsing it; each file is read once for all who ask."""

from __future__ import annotations

import os
import re
import zlib
from array import array
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from migrate.project.import_lines import imports_in
from migrate.project.text import ReadProblem, decode, read_bytes

_DECLARED = re.compile(rb"(?:\xef\xbb\xbf)?(?:[^\r\n]*(?:\r\n?|\n))?[ \t\f]*#[^\r\n]*coding[:=]")
# Text that is run, or a name that is put together and then loaded: whoever parses the file tells.
# One pattern a word, which is searched for first: that is many times as fast.
_RUN = {word: re.compile(rb"%b\s*\(\s*[rRbBuUfF]*['\"]" % word) for word in (b"exec", b"eval")}
_LETTER = re.compile(rb"\w")
_LOADED = (b"__import__", b"import_module")
_MODULES = re.compile(rb"modules\b(?!\s*\()")  # `sys.modules[...]`, not `net.modules()`
# Both parts of a name that is put together: `"to" + "rch"`; or its first letter by its number.
_PIECES = [(b"torch"[:at], b"torch"[at:]) for at in range(1, 5)]
_ESCAPED = re.compile(rb"\\(?:x74|u0074|164)")
_TO_A_QUOTE = re.compile(rb"""torch(?:vision|audio)?["'.]""")
_WORD = re.compile(rb"[A-Za-z0-9_]+")


@dataclass(slots=True)
class Scan:
    """One file; of one that cannot be read nothing is known."""

    readable: bool = False
    names_main: bool = False  # `if __name__ == "__main__"`: it is run as a script
    mentions_torch: bool = False  # anywhere, comments included
    quotes_torch: bool = False  # `import_module("torch")`, `"torch.optim.SGD"` in a table of names
    named: list[tuple[int, str]] = field(default_factory=list)  # dots and module of each import


class Scans:
    """The files of one request, and the folders around them."""

    def __init__(self) -> None:
        self._files: dict[str, Scan] = {}
        self._words: dict[Path, array[int] | None] = {}
        self._folders: dict[str, frozenset[str]] = {}
        self._modules: dict[tuple[str, str], str] = {}

    def of(self, path: str) -> Scan:
        found = self._files.get(path)
        if found is None:
            found = self._files[path] = _scan(path)
        return found

    def names_any(self, path: Path, names: Collection[str]) -> bool:
        """Whether one of the names stands in a file; an unreadable or declared encoding: maybe."""
        if "" in names or not all(map(str.isascii, names)):
            return True
        if path not in self._words:
            self._words[path] = _words(path)
        words = self._words[path]
        if words is None:
            return True
        return not {zlib.crc32(name.encode()) for name in names}.isdisjoint(words)

    def may_hold(self, stem: str) -> bool:
        """Whether there may be a module at a path without its ending; folders are listed once."""
        folder, name = os.path.split(stem)
        return name in self.members(folder)

    def module_file(self, base: str, module: str) -> str:
        """The file of a module below a directory, as Python looks for it; "" if there is none."""
        key = base, module
        found = self._modules.get(key)
        if found is None:
            found = self._modules[key] = self._module_file(base, module)
        return found

    def _module_file(self, base: str, module: str) -> str:
        stem = os.path.join(base, module.replace(".", os.sep))
        if self.may_hold(stem):
            for candidate in (f"{stem}{os.sep}__init__.py", f"{stem}.py"):
                if os.path.isfile(candidate):
                    return candidate
        return ""

    def members(self, folder: str) -> frozenset[str]:
        """What can be imported from a folder, by name."""
        found = self._folders.get(folder)
        if found is None:
            found = self._folders[folder] = _members(folder)
        return found


def _scan(path: str) -> Scan:
    try:
        data = read_bytes(Path(path))
        if _DECLARED.match(data):
            # In utf-7 or unicode_escape, ASCII letters need not be there as such.
            # A declaration that is wrong leaves noise, which the reader reports: look at both.
            data += b"\n" + decode(data, Path(path)).encode("utf-8", errors="replace")
    except ReadProblem:
        return Scan()  # whoever reads the file itself says why
    if b"\0" in data:  # no text, or UTF-16, in which no name would be found
        return Scan(names_main=b"__main__" in data, named=imports_in(data))
    mentions = b"torch" in data
    return Scan(
        readable=True,
        names_main=b"__main__" in data,
        mentions_torch=mentions,
        quotes_torch=_quotes_torch(data, mentions),
        named=imports_in(data),
    )


def _words(path: Path) -> array[int] | None:
    """The words of a file as checksums, four bytes each; None where they cannot be told."""
    try:
        data = read_bytes(path)
    except ReadProblem:
        return None
    if b"\0" in data or _DECLARED.match(data):
        return None
    return array("I", map(zlib.crc32, set(_WORD.findall(data))))


def _quotes_torch(data: bytes, mentions: bool) -> bool:
    if mentions and (_is_quoted(data) or any(_is_run(data, word) for word in _RUN)):
        return True
    if not _loads_by_name(data):
        return False
    return _ESCAPED.search(data) is not None or any(
        _in_order(data, first, second) for first, second in _PIECES
    )


def _is_quoted(data: bytes) -> bool:
    """`"torch"`, `'torchvision.models'`"""
    if b'"torch' not in data and b"'torch" not in data:
        return False
    return any(
        data[match.start() - 1 : match.start()] in (b'"', b"'")
        for match in _TO_A_QUOTE.finditer(data)
    )


def _is_run(data: bytes, word: bytes) -> bool:
    """`exec("...")`, not `run_exec("...")`"""
    return word in data and any(
        not _LETTER.match(data[match.start() - 1 : match.start()])
        for match in _RUN[word].finditer(data)
    )


def _loads_by_name(data: bytes) -> bool:
    if any(name in data for name in _LOADED):
        return True
    return b"modules" in data and _MODULES.search(data) is not None


def _in_order(data: bytes, first: bytes, second: bytes) -> bool:
    """Both in quotes, one behind the other."""
    starts = [at for quoted in _quoted(first) if (at := data.find(quoted)) >= 0]
    if not starts:
        return False
    behind = min(starts) + len(first) + 2
    return any(data.find(quoted, behind) >= 0 for quoted in _quoted(second))


def _quoted(word: bytes) -> list[bytes]:
    """In either kind of quotes, which need not be the same on both sides."""
    return [left + word + right for left in (b'"', b"'") for right in (b'"', b"'")]


def _members(folder: str) -> frozenset[str]:
    try:
        with os.scandir(folder) as entries:
            return frozenset(
                entry.name.removesuffix(".py")
                for entry in entries
                if entry.name.endswith(".py") or entry.is_dir()
            )
    except OSError:
        return frozenset()
