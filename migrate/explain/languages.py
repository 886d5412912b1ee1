"""Findings in the reader's language: what a code means and what to do, before the particulars."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from migrate.findings import Finding

LANGUAGES = ("en", "zh")


class Told(NamedTuple):
    """A code in another language."""

    summary: str
    do: str
    why: str


@cache
def told(language: str) -> dict[str, Told]:
    """By code; nothing for English, which is the language of the messages themselves."""
    if language == "en":
        return {}
    path = Path(__file__).with_name(f"codes.{language}.toml")
    return {code: Told(*texts) for code, texts in tomllib.loads(path.read_text("utf-8")).items()}


def translated(findings: Iterable[Finding], language: str) -> list[Finding]:
    """The findings with what they mean and what to do in front; names and reasons follow."""
    known = told(language)
    return [
        replace(
            one,
            message=f"{known[one.code].summary} ({one.message})",
            next_step=known[one.code].do + (f" ({one.next_step})" if one.next_step else ""),
        )
        if one.code in known
        else one
        for one in findings
    ]
