"""The table of the limits of Graph mode: its rows, its page, and what its reproducers showed."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest

from migrate.findings import CODES
from migrate.lower.limits import EFFECTS, TREATMENTS, limits
from migrate.pipeline import all_passes
from migrate.report.graph_limits_page import page
from tests.limits.reproduce import PAGE, RESULTS, program

ROWS = list(limits().values())
PASSES = {one.name for one in all_passes()} | {"watched_settings"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_rows_are_whole(row) -> None:
    assert row.effect in EFFECTS
    assert row.port in TREATMENTS
    assert row.code in CODES
    assert (row.by in PASSES) == (row.port != "pynative"), row.by
    assert row.message or row.port != "pynative"
    assert all(hasattr(ast, kind) for kind in row.syntax)
    if row.before:
        ast.parse(program(row, row.before))
    if row.after:
        ast.parse(program(row, row.after))


def test_each_lowering_pass_has_a_row() -> None:
    lowering = {one.name for one in all_passes() if one.unit == "lowering"}
    assert lowering == {row.by for row in ROWS if row.port == "lower"}


def test_the_page_is_current_and_the_runs_confirm_the_table() -> None:
    results = json.loads(RESULTS.read_text())
    assert PAGE.read_text() == page(results), "run `make limits`"
    for row in ROWS:
        found = results["limits"][row.name]
        if row.before:
            assert found["limit"] == row.effect, row.name
        assert found.get("after", "agrees") == "agrees", row.name


@pytest.mark.frameworks
def test_limits_are_still_there() -> None:
    names = ["whole-power", "late-closure", "attribute-read-back"]
    command = [sys.executable, "-m", "tests.limits.reproduce", *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
