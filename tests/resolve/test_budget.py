"""A file that takes too many steps is named, and costs no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.port.tree import Options, port_tree
from migrate.project import discover
from migrate.resolve import Resolver, budget
from migrate.table import Table

LONG = "import torch\n\n\ndef f(x):\n" + "    x = torch.relu(x)\n" * 50 + "    return x\n"
SHORT = "import torch\nfrom long import f\n\ny = f(torch.ones(1))\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(budget, "STEPS_AT_LEAST", 20)
    monkeypatch.setattr(budget, "STEPS_A_LINE", 0)
    (tmp_path / "long.py").write_text(LONG)
    (tmp_path / "short.py").write_text("import torch\n\ny = torch.ones(1)\n")
    return tmp_path


def test_the_file_is_named_and_left(folder: Path) -> None:
    tree = port_tree([folder], discover([folder]), Table(), Options(jobs=1))
    assert [(f.code, f.path) for f in tree.findings] == [("MS212", folder / "long.py")]
    assert tree.files[Path("long.py")].text == LONG
    assert "ops.ones" in tree.files[Path("short.py")].text


def test_a_caller_of_the_file_spends_its_own_budget(folder: Path) -> None:
    (folder / "short.py").write_text(SHORT)
    project = discover([folder])
    found = [Resolver(project, Table()).file(source).problem for source in project.files]
    assert [problem.code if problem else "" for problem in found] == ["MS212", "MS212"]


def test_ordinary_files_stay_far_below(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "STEPS_A_LINE", 10)
    project = discover([folder])
    assert [Resolver(project, Table()).file(s).problem for s in project.files] == [None, None]
