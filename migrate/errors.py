"""The one exception that reaches the user: what went wrong, where, and what to do next."""

from __future__ import annotations

from migrate.printable import printable


class RequestError(Exception):
    """A request that cannot be carried out: one message on the command line, and exit code 2."""

    def __init__(self, what: str, *, where: str = "", next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.next_step = next_step

    def __str__(self) -> str:
        # A line break in a file's name must not look like another message.
        located = f"{printable(self.where, '')}: {self.what}" if self.where else self.what
        return f"{located}\n  {self.next_step}" if self.next_step else located


def describe(error: BaseException, limit: int = 500) -> str:
    """The kind and message of any exception, even of one whose `__str__` raises."""
    try:
        text = str(error)
    except BaseException:  # user code, which may raise KeyboardInterrupt as well
        text = "<its message could not be read>"
    text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= limit else f"{text[:limit]}..."
