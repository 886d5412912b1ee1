"""One writer at a time: an advisory lock on a file beside the output.

The lock is the kernel's (`flock`), not the file's existence: it ends with the process that holds
it, however that ends, so a lock file that a killed run left behind blocks nobody.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from migrate.errors import RequestError
from migrate.files.atomic import remove_leftovers

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def lock_name(output: Path) -> Path:
    """Beside the output; in it where it is a directory in one that we may not write to."""
    name = f".{os.fsdecode(os.fsencode(output.name)[:150])}.ms-migrate.lock"
    inside = output.is_dir() and not os.access(output.parent, os.W_OK)
    return (output if inside else output.parent) / name


@contextmanager
def sole_writer(output: Path) -> Iterator[None]:
    """Hold the lock on an output, and clear away what interrupted runs left beside it."""
    path = lock_name(output)
    file = try_lock(path)
    if file is None:
        raise RequestError(
            "another ms-migrate is writing it",
            where=str(output),
            next_step="wait until that one ends, or give another output",
        )
    try:
        remove_leftovers(output)
        yield
    finally:
        release(path, file)


def try_lock(path: Path) -> int | None:
    """The open lock file, or None while another process holds it."""
    while True:
        try:
            file = os.open(path, _FLAGS, 0o600)
        except OSError as error:
            raise RequestError(
                f"cannot be created: {(error.strerror or str(error)).lower()}",
                where=str(path),
                next_step="check that its directory can be written to",
            ) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        except OSError:
            return file  # a file system without locks; the rename still keeps every file whole
        # Between open and lock the holder may have removed the name: then this locks nothing.
        with suppress(OSError):
            if os.path.samestat(os.fstat(file), os.stat(path, follow_symlinks=False)):
                return file
        os.close(file)


def release(path: Path, file: int) -> None:
    with suppress(OSError):
        os.unlink(path)
    os.close(file)
