"""A use that cannot be carried over with certainty."""

from __future__ import annotations


class Refusal(Exception):
    """This use cannot be carried over with certainty; it stays, marked."""

    def __init__(
        self, message: str, next_step: str = "", code: str = "MS306", *, final: bool = False
    ) -> None:
        super().__init__(message)
        self.final = final  # no helper can do it either
        self.message = message
        self.next_step = next_step
        self.code = code
