"""Packages that are built on torch are named wherever a program leans on them, and only there."""

from __future__ import annotations

import textwrap
import tomllib
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.resources import folder
from migrate.table.packages import Packages


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    def run(**files: str) -> Path:
        for name, source in files.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
        return tmp_path

    return run


def findings(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["port", str(path), "--check"]) in (0, 1)
    return [line for line in capsys.readouterr().out.splitlines() if "MS315" in line]


@pytest.mark.parametrize(
    "statement",
    [
        "import timm",
        "import timm.models.layers as layers",
        "from timm import create_model",
        "from transformers import AutoModel, AutoTokenizer",
        "import pytorch_lightning as pl",
        "import efficientnet_pytorch",
        "from torch_scatter import scatter_add",
        "import horovod.torch as hvd",
        "from safetensors.torch import load_file",
        "from albumentations.pytorch import ToTensorV2",
        "from albumentations import pytorch",
    ],
)
def test_an_import_of_a_package_built_on_torch(write, capsys, statement: str) -> None:  # type: ignore[no-untyped-def]
    path = write(net=f"import math\n{statement}\n")
    assert len(findings(path / "net.py", capsys)) == 1
    assert main(["analyze", str(path / "net.py")]) == 1
    assert "MS315" in capsys.readouterr().out


@pytest.mark.parametrize(
    "statement",
    [
        "import numpy",
        "from transformers import AutoTokenizer",
        "import safetensors.numpy",
        "import albumentations",
        "from store import torchlight",
        "from .timm import thing",
        "import tensorboardX",
    ],
)
def test_other_imports_are_left_in_peace(write, capsys, statement: str) -> None:  # type: ignore[no-untyped-def]
    path = write(net=f"import torch\n{statement}\n\nx = torch.ones(2)\n")
    assert findings(path / "net.py", capsys) == []


def test_a_package_of_the_project_is_no_stranger(write, capsys) -> None:  # type: ignore[no-untyped-def]
    path = write(timm="import torch\n", net="import timm\nimport torch\n")
    assert findings(path, capsys) == []


def test_the_marker_says_how_often_it_is_used_and_is_written_once(write, capsys) -> None:  # type: ignore[no-untyped-def]
    path = write(
        net="""
        import torch

        def build():
            import timm
            return timm.create_model("a")

        def other():
            import timm
            return timm.list_models()
        """
    )
    out = path / "out"
    assert main(["port", str(path / "net.py"), "-o", str(out)]) == 1
    ported = (out / "net.py").read_text()
    assert ported.count("# ms-migrate: MS315 timm: ") == 2
    assert "used 2× here;" in ported
    assert "    import timm\n" in ported
    assert main(["port", str(out / "net.py"), "--diff"]) == 1
    assert "+" not in capsys.readouterr().out.replace("+++", "")


def test_the_list_is_in_order_and_says_what_to_do() -> None:
    document = tomllib.loads((folder("mappings") / "packages.toml").read_text())
    assert list(document) == sorted(document)
    packages = Packages(document)
    for name, facts in document.items():
        assert set(facts) <= {"about", "way", "fine"}, name
        found = packages.get(f"{name}.some.member")
        assert found is not None and found.name == name and found.way
