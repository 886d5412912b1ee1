"""Cases in one process: places are counted over the batch, and a new process goes on in it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from migrate.verify import dry_batch, dry_samples
from migrate.verify.session import Renew


def test_notes_are_given_back_to_their_cases() -> None:
    notes = [
        {"trials": 9},
        {"case": "op:a", "offset": 0},
        {"place": 0},
        {"case": "op:b", "offset": 1},
        {"place": 1},
        {"finished": True},
    ]
    assert dict(dry_batch.by_case(notes)) == {
        "op:a": [{"place": 0}],
        "op:b": [{"place": 1}, {"finished": True}],
    }


def test_batches_hold_every_case_once() -> None:
    keys = [f"op:{number}" for number in range(2 * dry_batch.SIZE + 1)]
    found = dry_batch.batches(keys)
    assert len(found) == 3
    parts = [part.removeprefix(dry_batch.PREFIX).split("|") for part in found]
    assert [key for part in parts for key in part] == keys


def test_a_new_process_goes_on_after_the_sample_that_ended_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.jsonl"
    ran: list[tuple[str, int]] = []

    def note(record: dict[str, Any]) -> None:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")

    def run_case(key: str, folder: Path, start: int, note: Any) -> None:
        assert folder.parent == tmp_path and "ms_migrate_helpers" not in sys.modules
        note({"trials": 2})
        for place in range(start, 2):
            ran.append((key, place))
            note({"place": place, "api": key})
            if (key, place) == ("op:b", 0):
                raise Renew

    monkeypatch.setattr(dry_samples, "run_case", run_case)
    key = dry_batch.PREFIX + "op:a|op:b|op:c"
    with pytest.raises(Renew):
        dry_batch.run_batch(key, tmp_path, 0, note)
    dry_batch.run_batch(key, tmp_path, 3, note)
    assert ran == [("op:a", 0), ("op:a", 1), ("op:b", 0), ("op:b", 1), ("op:c", 0), ("op:c", 1)]
    notes = [json.loads(line) for line in path.read_text().splitlines()]
    found = dict(dry_batch.by_case(notes))
    assert {key: [n["place"] for n in found[key]] for key in found} == {
        "op:a": [0, 1],
        "op:b": [2, 3],
        "op:c": [4, 5],
    }
