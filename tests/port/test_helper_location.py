"""One helper module for a folder, wherever its scripts lie and however they start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from migrate.cli import main

NORM = "from torch import nn\n\nnorm = nn.BatchNorm2d\nprint(norm.name)\n"
STAND_IN = "class BatchNorm2d:\n    name = 'one'\n"


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """A repository of scripts that are run from where they lie."""
    for name in ("dcgan", "wgan"):
        folder = tmp_path / "repo" / "implementations" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(NORM, encoding="utf-8")
        (folder / "models.py").write_text(f'"""Models."""\n\nimport os\n\n{NORM}', encoding="utf-8")
    out = tmp_path / "out"
    assert main(["port", str(tmp_path / "repo"), "-o", str(out), "--quiet"]) == 0
    return out


def test_scripts_in_many_folders_share_one_module(scripts: Path) -> None:
    (module,) = scripts.rglob("ms_migrate_helpers.py")
    assert module.relative_to(scripts) == Path("implementations/ms_migrate_helpers.py")


def test_only_the_way_up_is_added(scripts: Path) -> None:
    folder = scripts / "implementations" / "dcgan"
    assert (
        (folder / "models.py")
        .read_text(encoding="utf-8")
        .startswith(
            '"""Models."""\n\nimport os\n\nimport sys\n\n'
            'sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))\n\n'
            "import ms_migrate_helpers as helpers\n"
        )
    )


@pytest.mark.parametrize(
    ("where", "how"),
    [
        (".", ["implementations/dcgan/dcgan.py"]),
        ("implementations/dcgan", ["dcgan.py"]),
        (".", ["-m", "implementations.dcgan.dcgan"]),
        ("implementations", ["-m", "dcgan.dcgan"]),
    ],
)
def test_every_way_to_start_a_script(scripts: Path, where: str, how: list[str]) -> None:
    module = scripts / "implementations" / "ms_migrate_helpers.py"
    module.write_text(STAND_IN, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, *how], cwd=scripts / where, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("one\n", "")


def test_a_second_port_adds_nothing(scripts: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert main(["port", str(scripts), "-o", str(again), "--quiet"]) == 0
    for path in scripts.rglob("*.py"):
        assert (again / path.relative_to(scripts)).read_bytes() == path.read_bytes()


def test_a_package_with_tools_beside_it_shares_its_module(port_files) -> None:
    tree = port_files(
        {"repo/pkg/__init__.py": "", "repo/pkg/net.py": NORM, "repo/tools/train.py": NORM}, "repo"
    )
    assert set(tree.helpers) == {Path("ms_migrate_helpers.py")}
    assert "sys.path" not in tree.files[Path("pkg/net.py")].text
    assert "sys.path.append(" in tree.files[Path("tools/train.py")].text


def test_a_package_that_is_installed_keeps_its_own(port_files) -> None:
    tree = port_files(
        {
            "repo/setup.py": "from setuptools import setup\n\nsetup(name='pkg')\n",
            "repo/pkg/__init__.py": "",
            "repo/pkg/net.py": NORM,
            "repo/tools/train.py": NORM,
        },
        "repo",
    )
    assert Path("pkg/ms_migrate_helpers.py") in tree.helpers
    assert "sys.path" not in tree.files[Path("pkg/net.py")].text


def test_a_notebook_keeps_a_module_beside_it(tmp_path: Path) -> None:
    """It has no __file__; its folder is what Python searches."""
    lines = ["from torch import nn\n", "norm = nn.BatchNorm2d"]
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": lines}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    for place in ("a", "b"):
        (tmp_path / "repo" / place).mkdir(parents=True)
    (tmp_path / "repo" / "a" / "lesson.ipynb").write_text(json.dumps(book), encoding="utf-8")
    (tmp_path / "repo" / "b" / "net.py").write_text(NORM, encoding="utf-8")
    out = tmp_path / "out"
    assert main(["port", str(tmp_path / "repo"), "-o", str(out), "--quiet"]) == 0
    assert (out / "a" / "ms_migrate_helpers.py").is_file()
