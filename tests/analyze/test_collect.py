"""Files are skipped, spread over processes and reported in order, whatever they hold."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

import pytest

from migrate.analyze.collect import Analyser, analyse
from migrate.analyze.model import Options
from migrate.project import Project, SourceFile, discover
from migrate.resolve import Resolver
from migrate.resolve.torch_reach import TorchReach
from migrate.table import Table


def tree(root: Path, files: dict[str, str]) -> Project:
    for name, text in files.items():
        path = root / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return discover([root / "tree"])


def reached(project: Project) -> dict[str, bool]:
    reach = TorchReach(project, Table().packages)
    return {file.module: reach.concerns(file) for file in project.files}


def test_files_without_torch_are_told_by_their_bytes_and_imports(tmp_path: Path) -> None:
    project = tree(
        tmp_path,
        {
            "net.py": "import torch",
            "train.py": "from net import Net",
            "main.py": "import os, train as t",
            "plain.py": "import os",
            "loop_a.py": "import loop_b",
            "loop_b.py": "import loop_a",
            "pkg/__init__.py": "from .deep import thing",
            "pkg/deep.py": "from .. import nothing",
            "pkg/user.py": "from . import blocks",
            "pkg/blocks.py": "from torch import nn",
        },
    )
    assert reached(project) == {
        "net": True,
        "train": True,
        "main": True,
        "plain": False,
        "loop_a": False,
        "loop_b": False,
        "pkg": True,  # pkg.user imports it
        "pkg.deep": True,
        "pkg.user": True,
        "pkg.blocks": True,
    }


@pytest.mark.parametrize(
    "line",
    [
        "import torch as t",
        "import os, torch as t",
        "import os,\\\n  torch as t",
        "import\ttorch",
        "import\x0ctorch",
        "x = 1; import torch as t",
        "if x: import torch as t",
        "try: from torch import nn as n",
        "from torch import(nn)",
        "from torch.nn import (  # layers (all)\n    Linear,\n)",
        "from\\\n  torch import nn",
        "class A:\n    def f(self):\n        from torch import nn",
        "t = __import__('torch')",
        'import importlib\nt = importlib.import_module("torch")',
        'from importlib import import_module as load\nt = load("torch.nn")',
        'import importlib\nt = importlib.import_module(\n    name="torch"\n)',
        'exec("import torch as t")',
        "import torchvision.models as m",
        'import importlib\nm = importlib.import_module("net")',
        'import importlib\nm = importlib.import_module(f"net")',
        "from net import *",
        "from star import *",
        "m = __import__('star')",
        "\ufeffimport torch",
    ],
)
def test_no_spelling_of_an_import_is_missed(tmp_path: Path, line: str) -> None:
    files = {"net.py": "import torch", "star.py": "from net import *", "asked.py": line + "\n"}
    assert reached(tree(tmp_path, files))["asked"]


def test_a_comment_or_a_word_is_no_import(tmp_path: Path) -> None:
    text = "# like torch, import nothing\nimportant = 'a torchbearer'\n"
    assert reached(tree(tmp_path, {"a.py": text})) == {"a": False}


def test_a_file_that_a_user_of_torch_imports_may_be_handed_tensors(tmp_path: Path) -> None:
    project = tree(
        tmp_path,
        {
            "net.py": "import torch",
            "train.py": "import net, metrics",
            "metrics.py": "def accuracy(out, y):\n    return out.argmax(1).eq(y)",
            "table.py": "def rows(frame):\n    return frame.clip(0).accelerate",
        },
    )
    assert reached(project) == {"net": True, "train": True, "metrics": True, "table": False}


def test_packages_built_on_torch_count_where_they_are_imported(tmp_path: Path) -> None:
    project = tree(tmp_path, {"a.py": "import os, clip", "b.py": "x.clip(0)  # lightning"})
    assert reached(project) == {"a": True, "b": False}


def test_a_parenthesised_import_is_followed(tmp_path: Path) -> None:
    project = tree(
        tmp_path, {"net.py": "import torch", "user.py": "from .net import (\n    Net,\n)"}
    )
    assert reached(project)["tree.user"]  # its relative import makes a package


def test_imports_without_spaces_are_followed(tmp_path: Path) -> None:
    project = tree(tmp_path, {"net.py": "import torch", "user.py": "from .import(net)"})
    assert reached(project)["tree.user"]


@pytest.mark.parametrize(
    "text",
    [
        "try: import torch\nexcept ImportError: torch = None",
        "if fast: from torch import nn",
        "def f(): import torch; return torch.ones(1)",
        "class A: from torch.nn import Linear",
        "from os import path; import torch",
        "import os, \\\n    torch",
        "import \\\r\n    torch",
        "from torch \\\n    import nn",
        "import ｔｏｒｃｈ",
        "from ｔorch.nn import Linear",
    ],
)
def test_an_import_is_found_wherever_a_statement_may_begin(text: str, tmp_path: Path) -> None:
    assert reached(tree(tmp_path, {"a.py": text})) == {"a": True}


@pytest.mark.parametrize(
    "data",
    [
        b"# coding: utf-7\nimport +AHQAbwByAGMAaA-\n",
        b"#!/usr/bin/python\n# vim: set fileencoding=unicode_escape :\nimport \\x74orch\n",
    ],
)
def test_an_import_is_found_in_encodings_that_hide_it(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(data)
    assert reached(discover([path])) == {"a": True}


def test_files_without_torch_are_not_parsed(
    tmp_path: Path, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tree(tmp_path, {"plain.py": "def broken(:"})

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr(Resolver, "file", fail)
    (report,) = analyse(project, table, Options(), 1)
    assert (report.torch, report.uses, report.problem) == (False, [], None)


def test_processes_change_nothing_but_the_time(tmp_path: Path, table: Table) -> None:
    sources = {
        f"file_{n:02}.py": f"import torch\n{'x = torch.relu(1)' + chr(10)}" * (n % 3)
        for n in range(30)
    }
    sources["net.py"] = (
        "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        del x\n"
    )
    sources["user.py"] = (
        "from net import Net\n"
        "class Big(Net):\n    def forward(self, x):\n        return x.view(1)\n"
    )
    project = tree(tmp_path, sources)
    alone = list(analyse(project, table, Options(), 1))
    assert list(analyse(project, table, Options(), 2)) == alone
    assert [report.path for report in alone] == [str(file.path) for file in project.files]


@pytest.mark.parametrize(("error", "code"), [(RecursionError, "MS208"), (KeyError, "MS209")])
def test_a_file_that_breaks_the_resolver_is_a_finding(
    tmp_path: Path,
    table: Table,
    monkeypatch: pytest.MonkeyPatch,
    error: type[Exception],
    code: str,
) -> None:
    project = tree(tmp_path, {"a.py": "import torch", "b.py": "import torch\ntorch.relu(x)"})
    plain = Resolver.file

    def stumble(self: Resolver, source: SourceFile, **options: object) -> object:
        if source.module == "a":
            raise error
        return plain(self, source, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Resolver, "file", stumble)
    first, second = analyse(project, table, Options(), 1)
    assert first.problem is not None and first.problem.code == code
    assert len(second.uses) == 1


def test_notebook_places_are_cells(tmp_path: Path, table: Table) -> None:
    cells = [
        {"cell_type": "markdown", "source": "text"},
        {"cell_type": "code", "source": ["import torch\n", "%matplotlib inline\n"]},
        {"cell_type": "code", "source": ["y = 1\n", "torch.relu(y)"]},
    ]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}}))
    project = discover([path])
    report = Analyser(project, table, Options()).report(project.files[0])
    (use,) = report.uses
    assert (use.place.cell, use.place.line, use.place.column) == (3, 2, 1)
    assert str(use.place).endswith("a.ipynb: cell 3:2")


def test_large_packages_have_no_file_that_cannot_be_analysed() -> None:
    """Code of many hands; a fault of ours would be a finding, and this would name the file."""
    site = Path(sysconfig.get_paths()["purelib"])
    project = discover([site / "torchvision", site / "torch" / "nn", site / "torch" / "optim"])
    reports = analyse(project, Table(), Options(), 2)
    assert [str(report.problem) for report in reports if report.problem] == []
    assert len(project.files) > 300
