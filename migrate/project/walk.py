"""Walk what the user gave: each file once, links followed but never in circles."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from migrate.findings import Finding, make_finding
from migrate.project.text import MAXIMUM_BYTES, ReadProblem, read_bytes, refusal

ENDINGS = (".py", ".pyw", ".ipynb")
_NEVER = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})


class Walk:
    """Collects files and, for what had to be left out, findings."""

    def __init__(self) -> None:
        self.files: list[Path] = []
        self.skipped: list[Finding] = []
        self._seen: set[tuple[int, int]] = set()
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
            before = len(self.files), len(self.skipped), len(self._seen)
            self._directory(path, [])
            if (len(self.files), len(self.skipped), len(self._seen)) == before:
                self.skipped.append(
                    make_finding("MS102", path, "holds no Python source", f"looked for {_WANTED}")
                )
        elif path.name.endswith(ENDINGS) or _has_python_shebang(path):
            self._file(path, status)
        else:
            self.skipped.append(
                make_finding(
                    "MS103", path, "is not Python source", f"give {_WANTED} or a directory"
                )
            )

    def _file(self, path: Path, status: os.stat_result) -> None:
        identity = status.st_dev, status.st_ino
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

    def _directory(self, path: Path, above: list[tuple[int, int]]) -> None:
        try:
            status = path.stat()
            with os.scandir(path) as entries:
                members = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self.skipped.append(refusal(path, error))
            return
        identity = status.st_dev, status.st_ino
        if identity in above:
            self.skipped.append(
                make_finding("MS203", path, "is a link to a directory above it; not followed")
            )
            return
        if identity in self._directories:
            return
        self._directories.add(identity)
        for member in members:
            self._member(path / member.name, member, [*above, identity])

    def _member(self, path: Path, entry: os.DirEntry[str], above: list[tuple[int, int]]) -> None:
        try:
            if entry.is_dir():
                if not _foreign(entry):
                    self._directory(path, above)
            elif entry.name.endswith(ENDINGS):
                self._file(path, entry.stat())
        except OSError as error:
            # A link to itself, or one whose target is gone.
            self.skipped.append(_absent(path, error))


_WANTED = ", ".join(f"*{ending}" for ending in ENDINGS)


def _foreign(entry: os.DirEntry[str]) -> bool:
    """Directories inside a tree that hold someone else's code, or none."""
    if entry.name.startswith(".") or entry.name in _NEVER:
        return True
    return os.path.isfile(os.path.join(entry.path, "pyvenv.cfg"))


def _absent(path: Path, error: OSError) -> Finding:
    if path.is_symlink():
        if isinstance(error, FileNotFoundError):
            return make_finding("MS201", path, "is a link to a file that does not exist")
        return make_finding("MS203", path, "is a link that leads back to itself")
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return make_finding("MS101", path, "does not exist", "check the spelling")
    return refusal(path, error)


def _has_python_shebang(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            first = stream.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first
