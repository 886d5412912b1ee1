"""Read a file that somebody else may have put there: ordinary, and not larger than it should be."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import IO, Any

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # opening a pipe would wait for its writer


class NotPlain(OSError):
    """A pipe, a device, a directory, or more bytes than such a file has."""


def open_plain(path: Path) -> IO[bytes]:
    """The file as a stream, if it is an ordinary one."""
    file = os.open(path, _FLAGS)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise NotPlain(f"{path.name} is not an ordinary file")
    return os.fdopen(file, "rb")


def read_plain(path: Path, longest: int) -> bytes:
    """The content, if it is an ordinary file of at most so many bytes."""
    with open_plain(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        data = stream.read(min(size, longest) + 1)  # memory for all of it is taken at once
    if len(data) > longest:
        raise NotPlain(f"{path.name} has more than {longest / 1e6:.0f} MB")
    return data


def read_json(path: Path, longest: int = 50_000_000) -> Any:
    """The document in an ordinary file; ValueError for what is none, however it is broken."""
    try:
        return json.loads(read_plain(path, longest).decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
