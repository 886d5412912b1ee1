"""The evidence on record: of rows that exist, and against no row that claims to be right."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from migrate.table import Table
from migrate.table.evidence import Evidence, load, sentence
from migrate.verify.command import CLAIMS
from migrate.verify.fingerprint import row_hash
from migrate.verify.tally import VERDICTS


@cache
def _table() -> Table:
    return Table()


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    found = load(_table().folder)
    assert found.rows, "mappings/evidence.json is missing: run ms-migrate verify --update"
    return found


def test_every_row_on_record_exists(evidence: Evidence) -> None:
    strangers = [name for name in evidence.rows if _table().get(name) is None]
    assert not strangers


def test_no_row_claims_what_its_evidence_denies(evidence: Evidence) -> None:
    """A row that MindSpore cannot honour says so itself: risky, no CPU, or a dtype in the note."""
    wrong = {}
    for name, found in evidence.rows.items():
        entry = _table().get(name)
        assert entry is not None
        claims = entry.status in CLAIMS and "CPU" in entry.platforms
        stale = found["hash"] != row_hash(entry)
        unstated = [d for d in found.get("wrong", ()) if d == "float32" or d not in entry.note]
        if claims and not stale and unstated:
            wrong[name] = found["first"]
    assert not wrong, "\n".join(f"{name}: {reason}" for name, reason in wrong.items())


def test_every_record_is_whole(evidence: Evidence) -> None:
    for name, found in {**evidence.rows, **evidence.cases}.items():
        assert found["verdict"] in (*VERDICTS, "untried"), name
        if found["verdict"] != "agrees":
            assert found.get("first"), f"{name} {found['verdict']} without a reason"
        for stage in ("forward", "gradient", "graph"):
            agreed, _, tried = found.get(stage, "1/1").partition("/")
            assert int(agreed) <= int(tried), name


def test_versions_and_platform_are_named(evidence: Evidence) -> None:
    assert set(evidence.versions) == {"torch", "mindspore"}
    assert evidence.platform.startswith("CPU")


def test_one_line_a_row_and_sorted() -> None:
    rows: dict[str, dict[str, Any]] = {
        name: {"verdict": "agrees", "hash": "h", "samples": 1} for name in ("torch.b", "torch.a")
    }
    text = Evidence({"torch": "2"}, "CPU", rows, {"op:a": {"verdict": "agrees"}}).text()
    assert [line.split('"')[1] for line in text.splitlines() if '"torch.' in line] == [
        "torch.a",
        "torch.b",
    ]
    assert json.loads(text)["rows"] == rows


def test_a_changed_row_makes_its_evidence_stale() -> None:
    found = {"verdict": "agrees", "hash": "old", "samples": 3, "forward": "3/3"}
    assert sentence(found, {}, "CPU", "new").startswith("stale")
    assert sentence(found, {}, "CPU", "old").startswith("agrees")
