"""Overwrite many files as one transaction: all old, all new, or one command away from either.

New contents and links to the old ones are staged in a journal directory at the top of the tree.
Only when all of it is on the disk, `journal.json` appears: from then on the tree can be completed
(`--resume`) or restored (`--rollback`) from the journal, whatever interrupts the run. When every
file is in place, the journal is removed, its `journal.json` first.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from migrate.errors import RequestError
from migrate.files import atomic, lock
from migrate.files.plain import read_json

JOURNAL = ".ms-migrate-in-place"
_LIST = "journal.json"
_FORMAT = "ms-migrate in-place journal 1"


@dataclass(frozen=True)
class Write:
    """One file that is to have this content."""

    path: Path
    data: bytes
    before: str = ""  # what it must have had so far, by its digest; anything if that is empty


@dataclass(frozen=True)
class Entry:
    """A write as the journal records it; `before` is empty for a file that is new."""

    path: str  # relative to the top, with /
    before: str
    after: str


def find_journal(top: Path) -> Path | None:
    """The journal of an interrupted run on this tree, or on one that it is part of."""
    for folder in (top, *top.parents):
        journal = folder / JOURNAL
        if _is_directory(journal) and (journal / _LIST).is_file():
            return journal
    return None


def refuse_interrupted(top: Path) -> None:
    journal = find_journal(top)
    if journal is not None:
        raise RequestError(
            "an earlier `port --in-place` was interrupted here",
            where=str(journal.parent),
            next_step="complete it with --in-place --resume, or undo it with --in-place --rollback",
        )


def apply(top: Path, writes: Iterable[Write]) -> None:
    """Write all files below `top`, or leave what `resume` and `rollback` need."""
    refuse_interrupted(top)
    with _held_journal(top) as journal:
        entries = [
            _stage(journal, top, str(number), write) for number, write in enumerate(writes, start=1)
        ]
        for folder in ("new", "old"):
            atomic.sync_directory(journal / folder)
        listed = {"format": _FORMAT, "entries": [asdict(entry) for entry in entries]}
        atomic.write_bytes(journal / _LIST, json.dumps(listed).encode())
        _complete(journal, top, entries)
        _discard(journal)


def resume(top: Path) -> int:
    """Finish an interrupted run; the number of files that it concerns."""
    journal = _interrupted(top)
    with _held_journal(journal.parent):
        entries = _read(journal)
        _complete(journal, journal.parent, entries)
        _discard(journal)
    return len(entries)


def rollback(top: Path) -> int:
    """Undo an interrupted run; the number of files that it concerns."""
    journal = _interrupted(top)
    home = journal.parent
    with _held_journal(home):
        entries = _read(journal)
        _refuse_changed(home, entries)
        written = [
            item for item in _numbered(entries) if _digest(home / item[1].path) == item[1].after
        ]
        _refuse_damaged((journal / "old" / n, entry.before) for n, entry in written if entry.before)
        for number, entry in written:
            if entry.before:
                _place(journal / "old" / number, home / entry.path)
            else:
                (home / entry.path).unlink()
        _sync(home, entries)
        _discard(journal)
    return len(entries)


def _interrupted(top: Path) -> Path:
    journal = find_journal(top)
    if journal is None:
        raise RequestError(
            "no interrupted `port --in-place` was found here",
            where=str(top),
            next_step="give the paths of the interrupted run; a tree without a journal is whole",
        )
    return journal


@contextmanager
def _held_journal(top: Path) -> Iterator[Path]:
    """The journal directory, locked; what an interrupted run staged and never began goes."""
    journal = top / JOURNAL
    held = lock.try_lock(top / f"{JOURNAL}.lock")
    if held is None:
        raise RequestError(
            "another `port --in-place` is running on this tree",
            where=str(top),
            next_step="wait until that one ends",
        )
    try:
        if not (journal / _LIST).is_file():
            atomic.remove(journal)
            for folder in (journal, journal / "new", journal / "old"):
                os.mkdir(folder, 0o700)
        elif not _is_directory(journal):
            raise RequestError("is not a directory of ms-migrate", where=str(journal))
        try:
            yield journal
        except BaseException:
            if not (journal / _LIST).is_file():
                atomic.remove(journal)
            raise
    finally:
        lock.release(top / f"{JOURNAL}.lock", held)


def _stage(journal: Path, top: Path, number: str, write: Write) -> Entry:
    path = write.path.resolve()
    inside = path.relative_to(top.resolve())
    like = None
    before = ""
    if os.path.lexists(path):
        like = path
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise RequestError("is not an ordinary file", where=str(write.path))
        before = _digest(path)
        if write.before and write.before != before:
            raise RequestError(
                "was changed while it was ported, so nothing was written",
                where=str(write.path),
                next_step="run the command again",
            )
        _keep(path, journal / "old" / number)
    atomic.create(journal / "new" / number, write.data, like=like)
    return Entry(inside.as_posix(), before, hashlib.sha256(write.data).hexdigest())


def _keep(path: Path, place: Path) -> None:
    """Keep the old file itself, with its owner, times and attributes, under a second name."""
    try:
        os.link(path, place, follow_symlinks=False)
    except OSError:
        shutil.copy2(path, place, follow_symlinks=False)


def _numbered(entries: list[Entry]) -> list[tuple[str, Entry]]:
    return [(str(number), entry) for number, entry in enumerate(entries, start=1)]


def _complete(journal: Path, top: Path, entries: list[Entry]) -> None:
    _refuse_changed(top, entries)
    due = [
        (number, entry)
        for number, entry in _numbered(entries)
        if _digest(top / entry.path) != entry.after
    ]
    _refuse_damaged((journal / "new" / number, entry.after) for number, entry in due)
    for number, entry in due:
        _place(journal / "new" / number, top / entry.path)
    _sync(top, entries)


def _place(staged: Path, path: Path) -> None:
    """Give a staged file its place and keep it staged, for the way back or forth again."""
    spare = staged.with_name(f"{staged.name}.spare")
    spare.unlink(missing_ok=True)
    _keep(staged, spare)
    try:
        os.replace(spare, path)
    except OSError as error:
        if error.errno != errno.EXDEV:  # a part of the tree is on another file system
            raise
        atomic.write_bytes(path, staged.read_bytes(), like=os.lstat(staged))


def _sync(top: Path, entries: list[Entry]) -> None:
    for folder in {(top / entry.path).parent for entry in entries}:
        atomic.sync_directory(folder)


def _refuse_changed(top: Path, entries: list[Entry]) -> None:
    """A file that is neither the old nor the new one has been edited since: nobody's to lose."""
    for entry in entries:
        if _digest(top / entry.path) not in (entry.before, entry.after):
            raise RequestError(
                "was changed after the interrupted run, so nothing was written",
                where=str(top / entry.path),
                next_step=f"put it aside, or remove {top / JOURNAL} to leave the tree as it is",
            )


def _refuse_damaged(staged: Iterable[tuple[Path, str]]) -> None:
    for path, expected in staged:
        if _digest(path) != expected:
            raise RequestError(
                "is not what the journal says, so nothing was written",
                where=str(path),
                next_step="restore the tree from git or from your copy of it",
            )


def _digest(path: Path) -> str:
    """The content's hash; nothing for a file that is not there."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise RequestError(
            f"cannot be read: {(error.strerror or str(error)).lower()}", where=str(path)
        ) from None
    with os.fdopen(file, "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise RequestError("is not an ordinary file", where=str(path))
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read(journal: Path) -> list[Entry]:
    """The journal's entries. It may have come with the tree, so every one is checked: inside the
    tree, by way of real directories, from files that were really staged.
    """
    problem = RequestError(
        "is not a journal of ms-migrate", where=str(journal), next_step="remove it"
    )
    try:
        listed: Any = read_json(journal / _LIST)
        if listed["format"] != _FORMAT:
            raise problem
        entries = [Entry(**entry) for entry in listed["entries"]]
    except (OSError, ValueError, TypeError, KeyError):
        raise problem from None
    for entry in entries:
        if not all(isinstance(value, str) for value in asdict(entry).values()):
            raise problem
        path = PurePosixPath(entry.path)
        if path.is_absolute() or ".." in path.parts or not path.parts or JOURNAL in path.parts:
            raise problem
        folder = journal.parent / path.parent
        if folder.resolve() != journal.parent.resolve() / path.parent:
            raise problem
    return entries


def _is_directory(path: Path) -> bool:
    """A real directory, and ours."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _discard(journal: Path) -> None:
    """Without its list the journal means nothing, so that goes first."""
    (journal / _LIST).unlink()
    atomic.sync_directory(journal)
    atomic.remove(journal)
