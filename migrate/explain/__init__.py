"""`ms-migrate explain MS307`: what a finding's code means, an example, and what to do."""

from __future__ import annotations

import argparse
import difflib
import textwrap
import tomllib
from pathlib import Path
from typing import NamedTuple

from migrate.envelope import as_text as document
from migrate.envelope import envelope
from migrate.errors import RequestError
from migrate.explain.languages import LANGUAGES, told
from migrate.findings import CODES

_FILE = Path(__file__).with_name("codes.toml")
_STEP = {"en": "What to do: ", "zh": "处理方法："}


class Explanation(NamedTuple):
    """One code in full."""

    code: str
    name: str
    severity: str
    summary: str
    why: str
    example: str
    do: str


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "code", metavar="CODE", nargs="*", help="MS307, or its name (unknown-receiver); none: all"
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print the result"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="one line for each code")
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="language")


def run(options: argparse.Namespace) -> int:
    """Explain the codes that were given, or list all."""
    known = explanations()
    chosen = [_find(word, known) for word in options.code] or list(known.values())
    foreign = told(getattr(options, "lang", "en"))
    chosen = [
        one._replace(**foreign[one.code]._asdict()) if one.code in foreign else one
        for one in chosen
    ]
    if options.format == "json":
        body = {"findings": [one._asdict() for one in chosen]}
        print(document(envelope("explain", body)), end="")
    elif options.quiet or not options.code:
        print("\n".join(f"{one.code}  {one.name:18} {one.summary}" for one in chosen))
    else:
        print("\n\n".join(as_text(one, options.lang) for one in chosen))
    return 0


def explanations() -> dict[str, Explanation]:
    """All of them, by code."""
    written = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        code: Explanation(
            code, rule.name, rule.severity, rule.summary, *_parts(written.get(code, {}))
        )
        for code, rule in sorted(CODES.items())
    }


def as_text(one: Explanation, language: str = "en") -> str:
    """Wrapped where words have spaces between them; Chinese is left to the terminal."""
    step = f"{_STEP[language]}{one.do}"
    parts = [f"{one.code} {one.name} ({one.severity})", one.summary, ""]
    parts += [one.why] if language == "zh" else textwrap.wrap(one.why, 92)
    if one.example:
        parts += ["", f"    {one.example}"]
    parts += ["", *([step] if language == "zh" else textwrap.wrap(step, 92))]
    return "\n".join(parts)


def _parts(told: dict[str, str]) -> tuple[str, str, str]:
    return told.get("why", ""), told.get("example", ""), told.get("do", "")


def _find(word: str, known: dict[str, Explanation]) -> Explanation:
    names = {one.name: one for one in known.values()} | known
    found = names.get(word.upper()) or names.get(word.lower())
    if found is None:
        close = difflib.get_close_matches(word.upper(), known, 1, 0.5)
        close = close or difflib.get_close_matches(word.lower(), names, 1, 0.5)
        step = f"did you mean {close[0]}?" if close else "`ms-migrate explain` lists them all"
        raise RequestError(f"there is no finding called {word!r}", next_step=step)
    return found
