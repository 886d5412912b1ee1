"""A sample of the hunt: what was right must not become silently wrong (`make hunt` runs all)."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from tests.hunt import record
from tests.hunt.compare import difference
from tests.hunt.idioms import CLASSES
from tests.hunt.record import every_program, names_with
from tests.hunt.run import Judged, hunt
from tests.hunt.table import run_dates

SIZE = 40  # programs, about twenty seconds on one core
SEED = 20261117


def test_names_are_unique() -> None:
    names = [program.folder for program in every_program()]
    assert len(names) == len(set(names))


def test_every_class_has_five_spellings() -> None:
    spellings: dict[int, set[str]] = {number: set() for number in CLASSES}
    for program in every_program():
        for number in program.classes:
            spellings[number].add(program.idiom)
    assert not {number for number, names in spellings.items() if len(names) < 5}


def test_there_are_six_hundred() -> None:
    assert len({program.key for program in every_program()}) >= 600


ONE = {"tensor": ["1"], "dtype": "int64", "shape": [1]}


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ({"float": "1.0"}, {"float": "1.00001"}, True),
        ({"float": "1.0"}, {"float": "1.1"}, False),
        ({"float": "nan"}, {"float": "0.0"}, False),
        (1, {"float": "1.0"}, False),
        (True, 1, False),
        (
            {"tensor": ["1"], "dtype": "int64", "shape": [1]},
            {"tensor": ["1"], "dtype": "int32", "shape": [1]},
            False,
        ),
        (
            {"tensor": ["1"], "dtype": "int64", "shape": [1]},
            {"tensor": ["1"], "dtype": "int64", "shape": []},
            False,
        ),
        ({"tuple": [1, 2]}, {"tuple": [1, 2]}, True),
        ({"tuple": [1, 2]}, {"list": [1, 2]}, False),
    ],
)
def test_comparison_tells_apart(expected: object, found: object, same: bool) -> None:
    records = [{"value": value, "printed": ""} for value in (expected, found)]
    assert (difference(*records) == "") is same


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ("loss 0.50000\n", "loss 0.500001\n", True),
        ("loss 0.5", "loss 0.6", False),
        ("a", "b", False),
    ],
)
def test_printed_text_is_compared(expected: str, found: str, same: bool) -> None:
    records = [{"value": None, "printed": text} for text in (expected, found)]
    assert (difference(*records) == "") is same


@pytest.mark.frameworks
def test_a_sample_is_never_silently_wrong(tmp_path: Path) -> None:
    right = names_with("right")
    programs = [program for program in every_program() if program.name in right]
    sample = random.Random(SEED).sample(programs, SIZE)
    judged = [one for one in hunt(sample, tmp_path) if one.verdict in ("silent", "invalid")]
    wrong = {one.program.name: one.differences for one in judged}
    assert not wrong


def test_a_run_is_dated_and_older_records_are_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = every_program()[:3]
    path = tmp_path / "hunt.json"
    monkeypatch.setattr(record, "RECORD", path)
    path.write_text(json.dumps({second.name: ["right", {}, []]}))
    known = record.renew([Judged(first, "right")])
    today = known[0].date
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", today)
    assert [(one.program, one.date) for one in known] == [(first, today), (second, "")]
    later = record.renew([Judged(third, "loud")])
    assert [one.date for one in later] == [today, "", today]
    assert run_dates(later, 5) == f"{today}: 2; earlier, not dated: 1; never run: 2"
