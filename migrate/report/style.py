"""One look for every command: the same colour for the same meaning."""

from __future__ import annotations

import os
import sys

from rich.console import Console

STATUS_STYLES = {
    "supported": "green",
    "rewritten": "green",
    "composed": "cyan",
    "risky": "yellow",
    "missing": "red",
    "unlisted": "magenta",
}
SEVERITY_STYLES = {"error": "red", "warning": "yellow", "note": "dim"}

# A file or a pipe has no width of its own; this shows full names, for grep.
PIPE_WIDTH = 140


def make_console(*, error: bool = False) -> Console:
    """A console that honours NO_COLOR, COLUMNS and a stream that is no terminal."""
    stream = sys.stderr if error else sys.stdout
    width = None
    if not stream.isatty() and not os.environ.get("COLUMNS", "").isdigit():
        width = PIPE_WIDTH
    return Console(file=stream, width=width, highlight=False, soft_wrap=False)


def colored_pipe() -> bool:
    """Whether colours are wanted though nobody sees a terminal here (`--color always`)."""
    return bool(os.environ.get("FORCE_COLOR")) and not os.environ.get("NO_COLOR")
