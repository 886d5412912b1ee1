"""Notebooks stay notebooks: code goes back into the cell it came from, magics and text stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from migrate.cli import main


def notebook(path: Path, *cells: str) -> Path:
    document = {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": [cell]}
            if cell.startswith("#!")
            else {
                "cell_type": "code",
                "metadata": {},
                "execution_count": 7,
                "outputs": [{"output_type": "stream", "name": "stdout", "text": ["old"]}],
                "source": cell.splitlines(keepends=True),
            }
            for cell in cells
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(document, indent=1) + "\n")
    return path


def sources(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"]]


def port(path: Path, out: Path) -> int:
    return main(["port", str(path), "-o", str(out), "--quiet"])


CELLS = (
    "#! A title",
    "%matplotlib inline\nimport torch\nfrom torch import nn, optim",
    "%%bash\nls torch",
    "",
    "%%time\nnet = nn.Conv2d(3, 8, 3, padding=1)  # kept\nx = torch.randn(1, 3, 8, 8)",
    "files = !ls\nprint(len(files))",
    "opt = optim.SGD(net.parameters(), lr=0.1)\n"
    "for _ in range(2):\n"
    "    opt.zero_grad()\n"
    "    loss = net(x).pow(2).mean()\n"
    "    loss.backward()\n"
    "    opt.step()\n"
    "    ?net",
    "net?",
)


def test_each_cell_gets_its_own_code_back(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", *CELLS)
    assert port(path, tmp_path / "out") == 0
    title, imports, shell, empty, model, files, train, asked = sources(tmp_path / "out/a.ipynb")
    assert (title, shell, empty, files, asked) == tuple(CELLS[i] for i in (0, 2, 3, 5, 7))
    assert imports.startswith("%matplotlib inline\n") and "torch" not in imports
    assert "import ms_migrate_helpers as helpers" in imports
    assert model.startswith("%%time\nnet = nn.Conv2d(3, 8, 3, pad_mode=")
    assert model.splitlines()[1].endswith("# kept")
    assert "def forward_step():" in train and train.endswith("    ?net")
    assert (tmp_path / "out/ms_migrate_helpers.py").is_file()


def test_what_changed_has_nothing_printed_yet(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", *CELLS)
    port(path, tmp_path / "out")
    cells: list[Any] = json.loads((tmp_path / "out/a.ipynb").read_text())["cells"]
    assert cells[4]["outputs"] == [] and cells[4]["execution_count"] is None
    assert cells[5]["outputs"] and cells[5]["execution_count"] == 7


def test_twice_is_once_and_others_stay_to_the_byte(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", *CELLS)
    port(path, tmp_path / "out")
    first = (tmp_path / "out/a.ipynb").read_bytes()
    assert port(tmp_path / "out/a.ipynb", tmp_path / "again") == 0
    assert (tmp_path / "again/a.ipynb").read_bytes() == first
    plain = notebook(tmp_path / "b.ipynb", "print(1)")
    assert port(plain, tmp_path / "plain") == 0
    assert (tmp_path / "plain/b.ipynb").read_bytes() == plain.read_bytes()


def test_findings_name_the_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = ("import torch", "#! text", "x = 1\ny = torch.quantize_per_tensor")
    path = notebook(tmp_path / "a.ipynb", *cells)
    assert main(["port", str(path), "--check"]) == 1
    assert "a.ipynb: cell 3, line 2: MS301" in capsys.readouterr().out


def test_a_diff_shows_the_notebooks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = notebook(tmp_path / "a.ipynb", "import torch\nx = torch.ones(2)")
    assert main(["port", str(path), "--diff"]) == 0
    out = capsys.readouterr().out
    assert '-    "x = torch.ones(2)"' in out
    assert '+    "x = ops.ones(2)"' in out


def test_for_the_npu_too(tmp_path: Path) -> None:
    path = notebook(tmp_path / "a.ipynb", "import torch", "x = torch.ones(2).cuda()")
    assert main(["port", str(path), "-o", str(tmp_path / "out"), "--target", "torch-npu"]) == 0
    assert sources(tmp_path / "out/a.ipynb")[1] == "x = torch.ones(2).npu()"
