"""Dtypes that an Ascend refuses are findings of `analyze --device Ascend`, at their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.analyze import device_dtypes
from migrate.analyze.collect import analyse
from migrate.analyze.model import Options, Use
from migrate.project import discover
from migrate.table import Table

PROGRAM = """
import torch


def f(x: torch.Tensor, i: torch.Tensor):
    a = torch.cumsum(x, 1)
    b = torch.cumsum(i.long(), 1)
    y = x.double()
    c = y.cumsum(1)
    y = y.float()
    d = y.cumsum(1) + torch.cumsum(dim=1, input=i.long())
    return a, b, c, d, torch.gather(x, 1, i.long())
"""
VERDICTS = {
    "torch.cumsum": {
        "verdict": "accepted",
        "dtypes": {"int64": "dtype refused", "float64": "no kernel", "float16": "accepted"},
        "why": {"int64": "graph: CumSum: float only"},
    },
    "torch.gather": {"verdict": "accepted", "dtypes": {"int64": "dtype refused"}},
}


def _uses(tmp_path: Path, device: str) -> list[Use]:
    path = tmp_path / "net.py"
    path.write_text(PROGRAM)
    (report,) = analyse(discover([path]), Table(), Options(device=device))
    return [use for use in report.uses if use.code == "MS304"]


def test_refused_dtypes_are_found_where_the_program_states_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_dtypes, "dry_run", lambda name, folder: VERDICTS.get(name, {}))
    found = [(use.place.line, use.api, use.problem) for use in _uses(tmp_path, "Ascend")]
    assert [(line, api) for line, api, _ in found] == [
        (7, "torch.cumsum"),
        (9, "torch.Tensor.cumsum"),  # by the function of the same operator
        (11, "torch.cumsum"),
    ]
    assert "of int64: dtype refused (graph: CumSum: float only)" in found[0][2]
    assert "of float64: no kernel" in found[1][2]


def test_other_devices_are_not_judged_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_dtypes, "dry_run", lambda name, folder: VERDICTS.get(name, {}))
    assert _uses(tmp_path, "CPU") == []
