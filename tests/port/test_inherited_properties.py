"""Properties of a base class: Graph mode would take what they compute for a constant."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.cli import main

NET = '''
import torch
from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor([0.1, -0.2, 0.3]))

    @property
    def scale(self):
        return torch.exp(self.log_scale)

    @property
    def size(self):
        return 3 * 2

    def forward(self, x):
        return x * self.scale


class Net(Base):
    """With a layer more."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return super().forward(self.fc(x))
'''


def test_they_become_the_own_ones_of_derived_classes(port) -> None:
    ported = port(NET)
    assert not ported.findings
    assert ported.text.count("scale = Base.scale") == 1
    assert "size = Base.size" not in ported.text
    assert "scale = Base" not in port(NET.replace("class Net(Base)", "class Net(nn.Module)")).text


def test_where_two_bases_have_it_the_order_decides(port) -> None:
    ported = port(
        f"{NET}\n\nclass Left(Base):\n    pass\n\n\nclass Right(Base):\n    pass\n\n\n"
        "class Both(Left, Right):\n    pass\n"
    )
    assert "scale = Left.scale" not in ported.text


@pytest.mark.frameworks
def test_their_parameters_have_gradients_in_both_modes(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "net.py", tmp_path / "out" / "net.py"
    theirs.write_text(NET)
    assert main(["port", str(theirs), "-o", str(ours.parent), "--quiet"]) == 0
    words = ["parity", f"{theirs}:Net", f"{ours}:Net", "--input", "4,3", "--classes", "3"]
    assert main([*words, "--quiet"]) == 0
