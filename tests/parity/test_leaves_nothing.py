"""A check leaves nothing in the directory that it is run from, not even where MindSpore fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.cli import main

TORCH = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)
"""
BROKEN = """\
from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(2, 2)

    def construct(self, x):
        return self.fc(x, x, x)
"""


def test_a_graph_that_does_not_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MS_OM_PATH", raising=False)
    Path("net.py").write_text(TORCH)
    Path("port.py").write_text(BROKEN)
    request = ["parity", "net.py:Net", "port.py:Net", "--input", "3,2", "--loss", "project"]
    assert main([*request, "--mode", "graph", "--quiet"]) == 2
    assert {path.name for path in tmp_path.iterdir()} <= {"net.py", "port.py", "__pycache__"}
