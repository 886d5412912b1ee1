"""Put a result where the user wants it: the terminal, a pipe, or a file that is whole or absent."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from migrate.errors import RequestError
from migrate.files.atomic import is_stream, write_text
from migrate.report.style import PIPE_WIDTH, colored_pipe, make_console

_NOT_REPORTS = (".py", ".ipynb", ".pth", ".pt", ".ckpt", ".safetensors", ".toml", ".cfg")


@contextmanager
def screen() -> Iterator[Console]:
    """Standard output; into a pipe without the blanks that pad a table's last column."""
    if sys.stdout.isatty() or colored_pipe():
        yield make_console()
        return
    buffer = io.StringIO()
    width = os.environ.get("COLUMNS", "")
    yield plain_console(buffer, int(width) if width.isdigit() else PIPE_WIDTH)
    sys.stdout.write(trimmed(buffer.getvalue()))


def plain_console(buffer: io.StringIO, width: int = PIPE_WIDTH) -> Console:
    """A console that writes text and nothing else."""
    return Console(file=buffer, width=width, highlight=False, color_system=None)


def trimmed(text: str) -> str:
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def check_file(path: Path | str | None) -> None:
    """Refuse a report's place before the work begins: minutes later it would be lost."""
    if not path:
        return
    place = Path(path)
    if is_stream(place):
        return
    if place.suffix in _NOT_REPORTS and os.path.lexists(place):
        raise RequestError(
            "is source or a checkpoint, and the report would replace it",
            where=str(path),
            next_step="choose another file name for the report",
        )
    if place.is_dir():
        raise RequestError("is a directory", where=str(path), next_step="give a file name")
    if not place.resolve().parent.is_dir():
        raise RequestError(
            "its directory does not exist", where=str(path), next_step="create the directory first"
        )
    if not os.access(place.resolve().parent, os.W_OK):
        raise RequestError(
            "its directory may not be written", where=str(path), next_step="give another path"
        )


def write_file(path: Path, text: str) -> None:
    """Write a report that is whole or absent; into /dev/stdout or a pipe, as it comes."""
    try:
        if is_stream(path):
            with open(path, "w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(text)
        else:
            write_text(path, text)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RequestError(
            f"cannot be written: {reason}", where=str(path), next_step="give another path"
        ) from None
