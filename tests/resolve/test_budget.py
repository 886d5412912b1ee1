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


ONE_LINE = {
    "a list": "import torch\na = [" + "torch.add(1, 2), " * 3_000 + "]\n",
    "many statements": "import torch\n" + "torch.add(1, 2); " * 3_000 + "\n",
    "items": "import torch\nx = torch.ones(3)\na = (" + "x[0], " * 6_000 + ")\n",
    "sums": "import torch\nf(" + "x.y + z, " * 3_000 + ")\n",
    "lambdas": "import torch\na = {" + "1: lambda: x, " * 6_000 + "}\n",
}


@pytest.fixture
def few_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "EXPRESSIONS_AT_LEAST", 4_000)


@pytest.mark.usefixtures("few_expressions")
@pytest.mark.parametrize("text", ONE_LINE.values(), ids=ONE_LINE.keys())
def test_a_line_of_many_expressions_is_left(text: str, tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text(text)
    project = discover([tmp_path])
    problem = Resolver(project, Table()).file(project.files[0]).problem
    assert problem is not None and problem.code == "MS212"


@pytest.mark.usefixtures("few_expressions")
def test_who_imports_such_a_line_is_ported(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text(ONE_LINE["a list"])
    (tmp_path / "short.py").write_text("import torch\nfrom long import a\n\ny = torch.ones(1)\n")
    tree = port_tree([tmp_path], discover([tmp_path]), Table(), Options(jobs=1))
    assert [f.code for f in tree.findings if f.path.name == "long.py"] == ["MS212"]
    assert "ops.ones" in tree.files[Path("short.py")].text


@pytest.mark.usefixtures("few_expressions")
def test_lines_and_tables_of_numbers_are_read(tmp_path: Path) -> None:
    table = "import torch\nx = torch.tensor([" + "[0.5, -2.5], " * 6_000 + "])\n"
    (tmp_path / "table.py").write_text(table)
    (tmp_path / "lines.py").write_text("import torch\n" + "torch.add(1, 2)\n" * 3_000)
    project = discover([tmp_path])
    assert [Resolver(project, Table()).file(s).problem for s in project.files] == [None, None]
