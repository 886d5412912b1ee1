"""docs/results/hunt.json: the last verdict of every program, so that a run of some renews those."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from tests.hunt.idioms import Program, read_programs, subjects
from tests.hunt.run import Judged

RECORD = Path(__file__).resolve().parents[2] / "docs" / "results" / "hunt.json"


def renew(judged: Iterable[Judged]) -> list[Judged]:
    """Write the new verdicts; every program that has one, in the order of the files."""
    record = _read()
    today = datetime.now(UTC).date().isoformat()
    for one in judged:
        shown = {mode: " ".join(text.split())[:200] for mode, text in one.differences.items()}
        record[one.program.name] = [one.verdict, shown, one.findings[:1], today]
    programs = {program.name: program for program in every_program()}
    record = {name: record[name] for name in programs if name in record}
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in record.items()]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return [Judged(programs[name], *entry) for name, entry in record.items()]


def every_program() -> list[Program]:
    return [program for subject in subjects() for program in read_programs(subject)]


def names_with(verdict: str) -> set[str]:
    """The programs that had this verdict when they were run last."""
    return {name for name, entry in _read().items() if entry[0] == verdict}


def verdicts() -> dict[str, str]:
    """Of every program that was run: its name and its last verdict."""
    return {name: str(entry[0]) for name, entry in _read().items()}


def _read() -> dict[str, list[object]]:
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
