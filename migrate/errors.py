"""The one exception that reaches the user: what went wrong, where, and what to do next."""

from __future__ import annotations


class RequestError(Exception):
    """A request that cannot be carried out: one message on the command line, and exit code 2."""

    def __init__(self, what: str, *, where: str = "", next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.next_step = next_step

    def __str__(self) -> str:
        located = f"{self.where}: {self.what}" if self.where else self.what
        return f"{located}\n  {self.next_step}" if self.next_step else located
