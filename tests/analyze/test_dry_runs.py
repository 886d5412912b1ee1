"""What the Ascend backend refuses in part is a note; what it always refuses is a finding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from migrate.analyze import dry_runs
from migrate.analyze.collect import analyse
from migrate.analyze.model import Options, Use
from migrate.project import discover
from migrate.table import Table

PROGRAM = "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.sort(x)\n"


def _use(tmp_path: Path, monkeypatch: Any, verdict: dict[str, Any], mode: str = "both") -> Use:
    path = tmp_path / "net.py"
    path.write_text(PROGRAM)
    monkeypatch.setattr(
        dry_runs, "dry_run", lambda name, folder: verdict if name == "torch.sort" else {}
    )
    (report,) = analyse(discover([path]), Table(), Options(device="Ascend", mode=mode), 1)
    return next(use for use in report.uses if use.api == "torch.sort")


@pytest.mark.parametrize("verdict", ["no kernel", "dtype refused", "host CPU"])
def test_what_is_always_refused_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: str
) -> None:
    dry = {"verdict": verdict, "pynative": "0/3", "first": "forward: Sort: float64"}
    use = _use(tmp_path, monkeypatch, dry)
    assert (use.code, use.note) == ("MS304", "")
    assert use.problem.endswith("on Ascend, in dry run: forward: Sort: float64")


@pytest.mark.parametrize(
    ("verdict", "taken"), [("dtype refused", 2), ("no kernel", 1), ("refused", 2), ("refused", 0)]
)
def test_what_is_refused_in_part_or_for_its_arguments_is_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: str, taken: int
) -> None:
    dry = {"verdict": verdict, "pynative": f"{taken}/3", "first": "forward: Sort: float64"}
    use = _use(tmp_path, monkeypatch, dry)
    assert (use.code, use.problem) == ("", "")
    assert f"in dry run, {3 - taken} of 3 calls were refused: forward: Sort" in use.note


def test_what_only_graph_mode_refuses_is_no_matter_of_pynative_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dry = {"verdict": "fails", "pynative": "3/3", "graph": "0/1", "first": "graph: too deep"}
    assert _use(tmp_path, monkeypatch, dry, "graph").code == "MS304"
    quiet = _use(tmp_path, monkeypatch, dry, "pynative")
    assert (quiet.code, quiet.note) == ("", "")


def test_an_error_that_the_cpu_does_not_raise_is_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dry = {"verdict": "fails", "pynative": "0/3", "first": "forward: ValueError: 7"}
    use = _use(tmp_path, monkeypatch, dry)
    assert (use.code, use.problem) == ("", "")
    assert "3 of 3 calls were refused: forward: ValueError: 7" in use.note
