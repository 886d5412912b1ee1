"""`-` for standard input: its text as a file of its own, for as long as the command runs."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from migrate.errors import RequestError

NAME = "stdin.py"


@contextmanager
def read_stdin(paths: list[Path]) -> Iterator[list[Path]]:
    """The paths, with `-` replaced; the working directory is then the file's, so that messages
    name `stdin.py` and not a temporary folder.
    """
    if Path("-") not in paths:
        yield paths
        return
    if len(paths) > 1:
        raise RequestError(
            "- cannot be combined with other paths", next_step="give files, or standard input"
        )
    data = sys.stdin.buffer.read()
    here = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="ms-migrate-") as folder:
        Path(folder, NAME).write_bytes(data)
        os.chdir(folder)
        try:
            yield [Path(NAME)]
        finally:
            os.chdir(here)
