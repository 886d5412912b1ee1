"""Replace a file by a whole new one: no reader sees half of it, no link is written through.

The new content goes to a file beside the target whose name nobody can guess and which must not
exist yet, is flushed to the disk, and takes the target's name in one rename.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_MARK = ".ms-migrate-"
_LONGEST = 150  # bytes of a name that go into its temporary one; file systems end at 255
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def temporary_name(path: Path) -> Path:
    """A name beside `path` that cannot be guessed, and that `remove_leftovers` recognises."""
    return path.parent / f"{_stem(path)}{secrets.token_hex(8)}"


def _stem(path: Path) -> str:
    name = os.fsdecode(os.fsencode(path.name)[:_LONGEST])
    return f".{name}{_MARK}"


def remove_leftovers(path: Path) -> None:
    """Remove temporary files and directories for `path` that an interrupted run left behind.

    Only whoever holds the lock on `path` may believe that nobody is using them.
    """
    stem = _stem(path)
    for folder in (path.parent, path):  # a directory that exists is staged inside itself
        with suppress(OSError):
            for entry in sorted(os.listdir(folder)):
                ending = entry[len(stem) :]
                if entry.startswith(stem) and len(ending) == 16 and set(ending) <= _HEX:
                    remove(folder / entry)


_HEX = frozenset("0123456789abcdef")


def remove(path: Path) -> None:
    """A file, a link or a directory with all that is in it; links are removed, not followed."""
    with suppress(OSError):
        if stat.S_ISDIR(os.lstat(path).st_mode):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)


def is_stream(path: Path) -> bool:
    """A device, a pipe or a socket, or a link to one: /dev/null must not become a file, nor must
    /dev/stdout, whatever it stands for at the moment.
    """
    named = [os.path.abspath(path)]
    with suppress(OSError):
        named.append(os.path.join(path.parent, os.readlink(path)))
    if any(name.startswith(_STREAMS) and not name.startswith("/dev/shm/") for name in named):
        return os.path.lexists(path)
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


_STREAMS = ("/dev/", "/proc/")


@contextmanager
def replacing(
    path: Path, *, like: os.stat_result | None = None, durable: bool = True
) -> Iterator[IO[bytes]]:
    """A stream whose content becomes `path` when the block ends well, and nothing otherwise.

    `like` gives permissions and owner of an earlier file; else they are those of any new file.
    Scratch files need not be `durable`: nobody asks for them after a power cut.
    """
    if is_stream(path):
        raise OSError(errno.EINVAL, "is a device or a pipe, which is not replaced", str(path))
    temporary = temporary_name(path)
    with os.fdopen(os.open(temporary, _NEW_FILE, 0o666), "wb") as stream:
        try:
            yield stream
            stream.flush()
            if like is not None:
                copy_owner_and_mode(stream.fileno(), like)
            if durable:
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except BaseException:
            remove(temporary)
            raise
    if durable:
        sync_directory(path.parent)


def write_bytes(
    path: Path, data: bytes, *, like: os.stat_result | None = None, durable: bool = True
) -> None:
    with replacing(path, like=like, durable=durable) as stream:
        stream.write(data)


def write_text(path: Path, text: str) -> None:
    """As UTF-8; a lone surrogate, which file names may hold, as its escape."""
    write_bytes(path, text.encode("utf-8", errors="backslashreplace"))


def create(path: Path, data: bytes, *, like: Path | None = None) -> None:
    """Write a file that must not exist yet, inside a directory that is ours already; with owner,
    permissions and attributes of the one that it is to replace.
    """
    with os.fdopen(os.open(path, _NEW_FILE, 0o666), "wb") as stream:
        stream.write(data)
        stream.flush()
        if like is not None:
            copy_attributes(like, stream.fileno())
            copy_owner_and_mode(stream.fileno(), os.lstat(like))
        os.fsync(stream.fileno())


def copy_owner_and_mode(file: int, like: os.stat_result) -> None:
    """Permissions stay, the executable bit among them; so does the owner where we may set it."""
    mine = os.fstat(file)
    if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
        with suppress(OSError):
            os.fchown(file, like.st_uid, like.st_gid)
    os.fchmod(file, stat.S_IMODE(like.st_mode))


@contextmanager
def staging_directory(path: Path) -> Iterator[Path]:
    """A private directory beside `path`, or in it if it is a directory, to prepare files in."""
    folder = temporary_name(path)
    if path.is_dir():
        folder = path / folder.name
    os.mkdir(folder, 0o700)
    try:
        yield folder
    finally:
        remove(folder)


def publish(staged: Path, path: Path) -> None:
    """Move a finished file from a staging directory to its place."""
    if is_stream(path):
        raise OSError(errno.EINVAL, "is a device or a pipe, which is not replaced", str(path))
    sync_file(staged)
    os.replace(staged, path)
    sync_directory(path.parent)


def sync_tree(top: Path) -> None:
    """Make all files below a directory, and their names, survive a power cut."""
    for folder, _, names in os.walk(top):
        for name in names:
            sync_file(Path(folder, name))
        sync_directory(Path(folder))


def sync_file(path: Path) -> None:
    """A link or a pipe has no content that could be lost; an error of the disk is one."""
    if stat.S_ISREG(os.lstat(path).st_mode):
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def copy_attributes(source: Path, file: int) -> None:
    """Access lists and whatever else hangs on a file, where the system has and allows it."""
    with suppress(OSError, AttributeError):
        for name in os.listxattr(source, follow_symlinks=False):
            with suppress(OSError):
                os.setxattr(file, name, os.getxattr(source, name, follow_symlinks=False))


def sync_directory(path: Path) -> None:
    """Make renames in a directory survive a power cut, where the file system can do that."""
    with suppress(OSError):
        file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(file)
        finally:
            os.close(file)
