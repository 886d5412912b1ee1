"""Many cases, one after the other in one process.

A process's first graph costs seconds, its next ones a fraction of one. A case that leaves something
behind ends the process; the next process goes on with the sample after it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from migrate.verify.session import Note, Renew

PREFIX = "batch:"
_SEPARATOR = "|"
SIZE = 12
_MODULES = ("ms_migrate_helpers", "mindspore_program", "torch_program")


def batches(keys: list[str]) -> list[str]:
    """The cases in groups, each a case of its own to the process that forks."""
    return [
        PREFIX + _SEPARATOR.join(keys[start : start + SIZE]) for start in range(0, len(keys), SIZE)
    ]


def run_batch(key: str, folder: Path, start: int, note: Note) -> None:
    """Run what is left of a batch, from the sample `start` on, counted over all its cases."""
    from migrate.verify import dry_samples

    keys = key.removeprefix(PREFIX).split(_SEPARATOR)
    begun = _begun(folder / "notes.jsonl")
    offset = begun[-1][1] if begun else 0
    if not begun:
        note({"trials": sys.maxsize})
    for place in range(max(0, len(begun) - 1), len(keys)):
        if place >= len(begun):
            note({"case": keys[place], "offset": offset})
        counted = _Counted(note, offset)
        here = _alone(folder / f"case_{place}")
        try:
            dry_samples.run_case(keys[place], here, max(0, start - offset), counted)
        except Renew:
            raise
        except Exception as error:
            note({"broken": f"{type(error).__name__}: {error}"[:300]})
        offset += counted.trials


class _Counted:
    """Notes of one case, with places that are counted over the batch."""

    def __init__(self, note: Note, offset: int) -> None:
        self._note = note
        self._offset = offset
        self.trials = 0

    def __call__(self, record: dict[str, Any]) -> None:
        if "trials" in record:
            self.trials = record["trials"]
            return
        if "place" in record:
            record = {**record, "place": record["place"] + self._offset}
        self._note(record)


def _begun(path: Path) -> list[tuple[str, int]]:
    """The cases that an earlier process of this batch has reached."""
    if not path.exists():
        return []
    notes = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [(note["case"], note["offset"]) for note in notes if "case" in note]


def _alone(folder: Path) -> Path:
    """A folder of its own, and nothing loaded from the case before."""
    folder.mkdir(exist_ok=True)
    for name in _MODULES:
        sys.modules.pop(name, None)
    sys.path[:] = [place for place in sys.path if Path(place).parent != folder.parent]
    return folder


def by_case(notes: list[dict[str, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A batch's notes, case by case."""
    key, found = "", list[dict[str, Any]]()
    for note in notes:
        if "case" in note:
            if key:
                yield key, found
            key, found = note["case"], []
        elif key:
            found.append(note)
    if key:
        yield key, found
