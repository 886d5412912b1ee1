"""From end to end on a few operators: through the porter, both frameworks, every kind of case."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from migrate.table import Table
from migrate.verify.command import wrong_claims
from migrate.verify.pool import Kept, Pool
from migrate.verify.tally import Tally, of_case

pytestmark = pytest.mark.frameworks

GELU = "torch.nn.functional.gelu"
CASES = (
    "op:nn.functional.gelu",
    "op:linalg.cholesky_ex",
    "op:__getitem__",
    "op:svd",
    "module:nn.GroupNorm",
    "optimizer:SGD",
    "schedule:StepLR",
    "own:torch.Tensor.view",
    "own:torch.nn.init.xavier_uniform_",
)


@pytest.fixture(scope="module")
def tallies() -> dict[str, Tally]:
    with Pool(2) as pool:
        return {key: of_case(notes) for key, notes in pool.run(list(CASES), 60.0)}


def test_a_rewritten_function_agrees_everywhere(tallies: dict[str, Tally]) -> None:
    tally = tallies["op:nn.functional.gelu"]
    assert tally.verdict == "agrees", tally.reason
    assert tally.samples >= 5
    for stage, (agreed, tried) in tally.stages.items():
        assert 0 < agreed == tried, stage


@pytest.mark.parametrize("key", [case for case in CASES if not case.startswith("op:")])
def test_layers_optimizers_schedules_and_own_samples_agree(
    key: str, tallies: dict[str, Tally]
) -> None:
    assert tallies[key].verdict == "agrees", tallies[key].reason
    assert tallies[key].samples >= 2


def test_indexing_is_written_as_people_write_it(tallies: dict[str, Tally]) -> None:
    assert tallies["op:__getitem__"].stages["forward"] == [16, 16]


def test_a_wrong_claim_is_named() -> None:
    tally = Tally()
    tally.add({"place": 0, "dtype": "float32", "forward": "disagrees: 1 of 1"})
    assert wrong_claims(Table(), {"torch.abs": tally}) == ["torch.abs"]
    assert wrong_claims(Table(), {"torch.no_such_name": tally}) == []


def test_notes_are_kept_until_the_row_changes(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    notes: list[dict[str, Any]] = [{"finished": True}]
    kept.put("op:a.b", "stamp", notes, 60.0)
    assert kept.get("op:a.b", "stamp", 90.0) == notes
    assert kept.get("op:a.b", "another", 60.0) is None


def test_a_case_that_ran_out_of_time_is_run_again_with_more(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    notes: list[dict[str, Any]] = [{"begins": True, "place": 0}, {"died": "hangs"}]
    kept.put("op:a.b", "stamp", notes, 1.0)
    assert kept.get("op:a.b", "stamp", 1.0) == notes
    assert kept.get("op:a.b", "stamp", 60.0) is None


def test_the_command_runs_one_row_and_says_what_agreed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "migrate", "verify", GELU, "--format", "json", "-q"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "MS_MIGRATE_CACHE": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["rows"][GELU]["verdict"] == "agrees"
    assert found["wrong_claims"] == []


def test_an_api_without_samples_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "migrate", "verify", "torch.no_such_name"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "MS_MIGRATE_CACHE": str(tmp_path)},
    )
    assert done.returncode == 2
    assert "no sample exercises torch.no_such_name" in done.stderr
