"""What runs of whole programs say of a row, and that the committed record fits the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from migrate.resources import folder
from migrate.table import Table
from migrate.table.program_evidence import FILE, is_measured, said, text


@pytest.mark.parametrize(
    ("right", "run", "measured"),
    [(3, 3, True), (2, 2, False), (9, 10, True), (8, 10, False), (0, 0, False)],
)
def test_several_runs_and_nine_of_ten_agreeing_ones_make_a_row_measured(
    tmp_path: Path, right: int, run: int, measured: bool
) -> None:
    rows = {"torch.no_grad": (right, run)} if run else {}
    (tmp_path / FILE).write_text(text(rows, {"torch": "2.13.0"}))
    assert is_measured("torch.no_grad", tmp_path) is measured


def test_a_folder_without_a_record_measures_nothing(tmp_path: Path) -> None:
    assert not is_measured("torch.no_grad", tmp_path)
    assert said("torch.no_grad", tmp_path) == ""


def test_the_sentence_counts_runs(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text({"torch.no_grad": (57, 58)}, {}))
    expected = "57 of 58 runs of programs that use it agree with torch"
    assert said("torch.no_grad", tmp_path) == expected


def test_the_committed_record_names_rows_of_the_table() -> None:
    rows = json.loads((folder("mappings") / FILE).read_text())["rows"]
    table = Table()
    assert [name for name in rows if table.get(name) is None] == []
    assert all(0 <= right <= run and run for right, run in rows.values())
    assert rows["torch.no_grad"][0] >= 10
