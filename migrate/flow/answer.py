"""The three answers to a question about a program: yes, no, and unknown with a reason."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Answer(Enum):
    """Compare with `is`: an Answer has no truth value, so that unknown is never taken for no."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("an Answer may be unknown: compare it with `is`")


class Verdict(NamedTuple):
    """An answer and the reason for it, in words that can stand in a finding."""

    answer: Answer
    reason: str = ""

    @property
    def yes(self) -> bool:
        return self.answer is Answer.YES

    @property
    def no(self) -> bool:
        return self.answer is Answer.NO

    @property
    def unknown(self) -> bool:
        return self.answer is Answer.UNKNOWN


def yes(reason: str = "") -> Verdict:
    return Verdict(Answer.YES, reason)


def no(reason: str = "") -> Verdict:
    return Verdict(Answer.NO, reason)


def unknown(reason: str) -> Verdict:
    return Verdict(Answer.UNKNOWN, reason)
