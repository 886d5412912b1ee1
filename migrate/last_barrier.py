"""The last barrier: whatever goes wrong ends in one message and a telling exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TextIO

from migrate.envelope import failure
from migrate.errors import RequestError, describe
from migrate.printable import printable

REFUSED, INTERNAL = 2, 3


class Ended(BaseException):
    """A signal asked the process to end; raised where it was, so that everything is cleaned up."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        self.name = signal.Signals(number).name


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the command the way Ctrl-C does: workers and files go with it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    earlier = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            earlier[number] = signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # once is enough, while things are being cleaned up
    raise Ended(number)


def provide_streams() -> None:
    """A caller that closed a stream (`>&-`) wants nothing of it; Python gives None for it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def explain(error: Exception, *, debug: bool, command: str | None = None) -> int:
    """Say what went wrong on standard error; the exit code tells whose fault it is. A command that
    was asked for JSON says it there, too.
    """
    if debug:
        traceback.print_exception(error)
    message, code = _message(error)
    if command:
        what, _, step = message.partition("\n  ")
        where = ""
        if isinstance(error, RequestError):
            what, where, step = error.what, error.where, error.next_step
        _say(sys.stdout, failure(command, code, what, where, step))
    _say(sys.stdout, "")
    _say(sys.stderr, f"ms-migrate: {printable(message)}\n")
    return code


def _say(stream: TextIO, text: str) -> None:
    """Write what still can be written; a full disk must not hide the exit code, at exit neither."""
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _message(error: Exception) -> tuple[str, int]:
    if isinstance(error, RequestError):
        return str(error), REFUSED
    if isinstance(error, OSError):
        reason = (error.strerror or describe(error)).lower()
        where = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
        return f"{where}: {reason}" if where else reason, REFUSED
    if isinstance(error, MemoryError):
        return "ran out of memory\n  give fewer files at a time, or use --jobs 1", REFUSED
    return (
        f"internal error: {describe(error)} ({_place(error)})\n"
        "  this is a fault of ms-migrate, not of your files: please report it with the output of"
        " the same command with --debug",
        INTERNAL,
    )


def _place(error: BaseException) -> str:
    """The innermost line of ours that the error came through."""
    here = os.path.dirname(os.path.abspath(__file__))
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(here)]
    if not (ours or frames):
        return "unknown place"
    frame = (ours or list(frames))[-1]
    return f"{os.path.relpath(frame.filename, os.path.dirname(here))}:{frame.lineno}"
