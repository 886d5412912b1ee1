"""Walk what the user gave: each file once, links never in circles and never out of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from migrate.findings import Finding, make_finding
from migrate.project.text import MAXIMUM_BYTES, ReadProblem, read_bytes, refusal

ENDINGS = (".py", ".pyw", ".ipynb")
_NEVER = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})


class Walk:
    """Collects files and, for what had to be left out, findings.

    Links are looked at last. One that leads to a place inside what was asked for adds nothing, or
    a place that the walk would not enter by itself; one that leads elsewhere is not followed.
    """

    def __init__(self, asked: Sequence[Path] = ()) -> None:
        self.files: list[Path] = []
        self.skipped: list[Finding] = []
        self._asked = asked
        self._roots = [os.path.realpath(path) for path in asked]
        self._links: list[Path] = []
        self._seen: set[tuple[int, int, str]] = set()
        self._directories: set[tuple[int, int]] = set()

    def take(self, path: Path) -> None:
        """A path from the command line: here a mistake deserves a word."""
        try:
            status = path.stat()
        except OSError as error:
            self.skipped.append(_absent(path, error))
            return
        if stat.S_ISDIR(status.st_mode):
            if (status.st_dev, status.st_ino) in self._directories:
                return
            before = self._found()
            self._directory(path)
            if self._found() == before:
                self._empty(path)
        elif path.name.endswith(ENDINGS) or _has_python_shebang(path):
            self._file(path, status)
        else:
            self.skipped.append(
                make_finding(
                    "MS103", path, "is not Python source", f"give {_WANTED} or a directory"
                )
            )

    def _empty(self, path: Path) -> None:
        self.skipped.append(
            make_finding("MS102", path, "holds no Python source", f"looked for {_WANTED}")
        )

    def _found(self) -> tuple[int, ...]:
        return len(self.files), len(self.skipped), len(self._seen), len(self._links)

    def _file(self, path: Path, status: os.stat_result) -> None:
        # Two hard links are two files: in the output neither may be the unported one.
        identity = status.st_dev, status.st_ino, ""
        if status.st_nlink > 1:
            identity = (*identity[:2], os.path.realpath(path))
        if identity in self._seen:
            return
        self._seen.add(identity)
        if status.st_size > MAXIMUM_BYTES or not stat.S_ISREG(status.st_mode):
            try:
                read_bytes(path)
            except ReadProblem as problem:
                self.skipped.append(problem.finding)
            return
        self.files.append(path)

    def _directory(self, top: Path) -> None:
        """Everything below a directory, without recursion: trees may be deeper than the stack."""
        pending = [top]
        while pending:
            path = pending.pop()
            try:
                status = path.stat()
                with os.scandir(path) as entries:
                    members = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self.skipped.append(refusal(path, error))
                continue
            identity = status.st_dev, status.st_ino
            if identity in self._directories:
                continue
            self._directories.add(identity)
            pending += self._members(path, members)

    def _members(self, path: Path, members: list[os.DirEntry[str]]) -> Iterator[Path]:
        """Take the files of a directory; give the directories in it."""
        for entry in members:
            try:
                if entry.is_symlink():
                    self._links.append(path / entry.name)
                elif entry.is_dir():
                    if not _foreign(path / entry.name):
                        yield path / entry.name
                elif entry.name.endswith(ENDINGS):
                    self._file(path / entry.name, entry.stat())
            except OSError as error:
                self.skipped.append(_absent(path / entry.name, error))

    def follow_links(self) -> None:
        """Last, when everything that can be reached without them is known."""
        while self._links:
            link = self._links.pop(0)
            try:
                self._link(link)
            except OSError as error:
                # A link to itself, or one whose target is gone.
                if link.name.endswith(ENDINGS):
                    self.skipped.append(_absent(link, error))
        if not self.files and not self.skipped:  # there were links, and none led to a source
            for path in self._asked:
                self._empty(path)

    def _link(self, link: Path) -> None:
        real = os.path.realpath(link, strict=True)
        status = os.stat(real)
        directory = stat.S_ISDIR(status.st_mode)
        if _foreign(link) if directory else not link.name.endswith(ENDINGS):
            return
        if not any(is_below(real, root) for root in self._roots):
            self.skipped.append(
                make_finding(
                    "MS210",
                    link,
                    f"is a link to {real}, outside the given paths; not followed",
                    "add the linked path to the command, or copy the file into the tree",
                )
            )
        elif directory and is_below(os.path.realpath(link.parent), real):
            self.skipped.append(
                make_finding("MS203", link, "is a link to a directory above it; not followed")
            )
        elif directory:
            self._directory(link)
        else:
            self._file(link, status)


def is_below(path: str, root: str) -> bool:
    """Whether a real path is a real directory or lies in it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


_WANTED = ", ".join(f"*{ending}" for ending in ENDINGS)


def _foreign(path: Path) -> bool:
    """Directories inside a tree that hold someone else's code, or none."""
    if path.name.startswith(".") or path.name in _NEVER:
        return True
    return os.path.isfile(path / "pyvenv.cfg")


def _absent(path: Path, error: OSError) -> Finding:
    if path.is_symlink():
        if isinstance(error, FileNotFoundError):
            return make_finding("MS201", path, "is a link to a file that does not exist")
        return make_finding("MS203", path, "is a link that leads back to itself")
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return make_finding("MS101", path, "does not exist", _nearest(path))
    return refusal(path, error)


def _nearest(path: Path) -> str:
    """The name beside it that was probably meant."""
    from difflib import get_close_matches

    try:
        beside = os.listdir(path.parent)
    except OSError:
        return f"there is no folder {path.parent} either"
    close = get_close_matches(path.name, beside, 1, 0.6)
    return f"did you mean {path.parent / close[0]}?" if close else "check the spelling"


def _has_python_shebang(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            first = stream.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first
