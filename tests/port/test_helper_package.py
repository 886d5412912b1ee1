"""`--helpers package`: the same pieces from an installed package."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.emit import runtime_package
from migrate.table.helper_pieces import helper_index

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, norm=nn.BatchNorm2d, act=nn.GELU):
        super().__init__()
        self.norm, self.act = norm(3, momentum=0.2), act()
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        return self.pool(self.act(self.norm(x))).topk(2)[0]


COST = {nn.Linear: 2}


def cost(m: nn.Module):
    return COST.get(type(m), 0)
"""
RUN = """\
import numpy as np
import mindspore
import ms_migrate_runtime
import net

assert net.helpers.BatchNorm2d.__module__ == "ms_migrate_runtime"
out = net.Net()(mindspore.Tensor(np.ones((1, 3, 4, 4), np.float32)))
assert out.shape == (1, 3, 2, 2)
assert net.cost(mindspore.nn.Dense(2, 2)) == 2 and net.cost(mindspore.nn.ReLU()) == 0
assert "with_watched_settings" not in " ".join(__import__("sys").modules)
before = mindspore.Tensor.__format__
ms_migrate_runtime.formatted_tensors
assert mindspore.Tensor.__format__ is not before
try:
    ms_migrate_runtime.require("99.0.0")
except ImportError as error:
    print(error)
"""


def names_bound(text: str) -> list[str]:
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found += [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    return found


@pytest.fixture
def ported(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    out = tmp_path / "out"
    arguments = ["port", str(tmp_path / "net.py"), "-o", str(out), "--helpers", "package"]
    assert main([*arguments, "--quiet"]) == 0
    return out


def test_the_module_beside_a_port_only_names_them(ported: Path) -> None:
    text = (ported / "ms_migrate_helpers.py").read_text(encoding="utf-8")
    assert "from ms_migrate_runtime import (\n    BatchNorm2d,\n" in text
    assert 'require("' in text
    assert "class BatchNorm2d" not in text and "def topk" not in text
    assert "def torch_class(" in text  # asks for the classes of its own module


def test_every_piece_is_in_the_package_once() -> None:
    """One module: no name may hide another's import."""
    files = runtime_package.runtime_files()
    bound = names_bound(files["__init__.py"])
    assert [name for name in set(bound) if bound.count(name) > 1] == ["mindspore"]
    effects = {name[5:-3] for name in files if name.startswith("with_")}
    assert effects >= {"watched_settings", "formatted_tensors", "shown_tensors"}
    constants = {name for name in helper_index().definitions if f"\n{name}" in files["__init__.py"]}
    assert set(helper_index().definitions) - effects <= {*bound, *constants}


def test_mint_has_no_package(tmp_path: Path, capsys) -> None:
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    arguments = ["port", str(tmp_path / "net.py"), "--check", "--helpers", "package"]
    assert main([*arguments, "--target", "mint"]) == 2
    assert "classic layers" in capsys.readouterr().err


@pytest.mark.frameworks
def test_a_port_runs_on_the_wheel(ported: Path, tmp_path: Path) -> None:
    assert runtime_package.main(str(tmp_path / "dist")) == 0
    (wheel,) = (tmp_path / "dist").glob("ms_migrate_runtime-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    (ported / "run.py").write_text(RUN, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "run.py"],
        cwd=ported,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "older than 99.0.0" in done.stdout
