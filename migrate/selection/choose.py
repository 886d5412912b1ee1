"""Decide of each finding whether it counts."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from migrate.errors import RequestError
from migrate.explain.languages import LANGUAGES
from migrate.findings import CODES, Finding
from migrate.project import ReadProblem, SourceFile
from migrate.selection import baseline
from migrate.selection.exclude import split
from migrate.selection.inline import Suppressions

DEFAULT_BASELINE = Path(".ms-migrate-baseline.json")


class Spot(NamedTuple):
    """What the decision needs of a finding."""

    path: Path
    line: int
    cell: int
    code: str


@dataclass(slots=True)
class Hidden:
    """How many findings were left out, and by what."""

    ignored: int = 0  # --select, --ignore
    suppressed: int = 0  # a comment
    known: int = 0  # the baseline

    @property
    def total(self) -> int:
        return self.ignored + self.suppressed + self.known

    def __str__(self) -> str:
        """`3 not shown: 2 by --select or --ignore, 1 in the baseline`, or nothing."""
        parts = [
            f"{self.ignored} by --select or --ignore" if self.ignored else "",
            f"{self.suppressed} by comments in the source" if self.suppressed else "",
            f"{self.known} in the baseline" if self.known else "",
        ]
        told = ", ".join(part for part in parts if part)
        return f"{self.total} not shown: {told}" if told else ""


@dataclass(slots=True)
class Chooser:
    """The choice of one run; each finding is to be asked about once."""

    select: tuple[str, ...] = ("",)
    ignore: tuple[str, ...] = ()
    known: baseline.Baseline | None = None
    recorded: list[tuple[Path, str, str]] | None = None  # for a new baseline
    hidden: Hidden = field(default_factory=Hidden)
    _texts: dict[Path, tuple[list[str], Suppressions, SourceFile]] = field(default_factory=dict)

    def counts(self, spot: Spot) -> bool:
        """Whether the finding is shown and decides the exit code."""
        if not spot.code.startswith(self.select) or spot.code.startswith(self.ignore):
            self.hidden.ignored += 1
            return False
        lines, comments, source = self._text(spot.path)
        line = _line_in_text(source, spot) if spot.cell else spot.line
        if comments.covers(line, spot.code):
            self.hidden.suppressed += 1
            return False
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        if self.recorded is not None:
            self.recorded.append((spot.path, spot.code, text))
        if self.known is not None and self.known.covers(spot.path, spot.code, text):
            self.hidden.known += 1
            return False
        return True

    def findings(self, found: Iterable[Finding]) -> list[Finding]:
        """Those that count."""
        return [one for one in found if self.counts(Spot(one.path, one.line, one.cell, one.code))]

    def _text(self, path: Path) -> tuple[list[str], Suppressions, SourceFile]:
        if path not in self._texts:
            source = SourceFile(path, "", "", False, path.suffix == ".ipynb")
            try:
                text = source.read() if path.is_file() else ""
            except ReadProblem:
                text = ""
            self._texts[path] = text.splitlines(), Suppressions(text), source
        return self._texts[path]


def _line_in_text(source: SourceFile, spot: Spot) -> int:
    """A notebook's findings count lines from their cell's beginning."""
    start = next((start for start, number in source.cells if number == spot.cell), 1)
    return start + spot.line - 1


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that `analyze` and `port` share."""
    chosen = parser.add_argument_group("what counts")
    chosen.add_argument(
        "--exclude",
        metavar="PATTERN",
        action="append",
        default=[],
        help="leave out files and folders: third_party, '*_pb2.py', src/old (repeat, or commas)",
    )
    chosen.add_argument(
        "--select",
        metavar="CODES",
        action="append",
        default=[],
        help="only these findings: MS3, MS307, unknown-receiver (repeat, or commas; default: all)",
    )
    chosen.add_argument(
        "--ignore", metavar="CODES", action="append", default=[], help="all but these findings"
    )
    chosen.add_argument(
        "--baseline",
        metavar="FILE",
        type=Path,
        help="leave out the findings that this file lists as known",
    )
    chosen.add_argument(
        "--write-baseline",
        action="store_true",
        help=f"write the findings to --baseline FILE (or {DEFAULT_BASELINE}) and exit with 0",
    )
    chosen.add_argument(
        "--lang",
        choices=LANGUAGES,
        default="en",
        help="language of the findings; names and particulars stay as they are",
    )
    chosen.add_argument(
        "--exit-zero", action="store_true", help="exit with 0 even when something is to be done"
    )


def chooser(options: argparse.Namespace) -> Chooser:
    """The choice that the options make; codes that do not exist are refused."""
    path = options.baseline
    return Chooser(
        select=_codes(options.select) or ("",),
        ignore=_codes(options.ignore),
        known=baseline.Baseline.read(path) if path and not options.write_baseline else None,
        recorded=[] if options.write_baseline else None,
    )


def finish(options: argparse.Namespace, chosen: Chooser, code: int) -> tuple[int, str]:
    """The exit code after --exit-zero and --write-baseline, and a remark for the user."""
    if chosen.recorded is not None:
        path = options.baseline or DEFAULT_BASELINE
        number = baseline.write(path, chosen.recorded)
        return 0, f"wrote {number} finding{'' if number == 1 else 's'} to {path}"
    return (0 if options.exit_zero and code == 1 else code), ""


def _codes(asked: Iterable[str]) -> tuple[str, ...]:
    names = {rule.name: code for code, rule in CODES.items()}
    found = []
    for word in split(asked):
        code = names.get(word.lower(), word.upper())
        if code == "ALL":
            code = "MS"
        if not any(known.startswith(code) for known in CODES):
            from migrate.command_line.parser import did_you_mean

            close = did_you_mean(word.upper(), CODES) or did_you_mean(word.lower(), names)
            step = close or "`ms-migrate explain` lists all findings"
            raise RequestError(f"there is no finding {word!r}", next_step=step)
        found.append(code)
    return tuple(found)
