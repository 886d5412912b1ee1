"""What stands behind a changed line: the row of its API, whatever pass lays the line out."""

from __future__ import annotations

from pathlib import Path

from migrate.port.tree import Options, port_tree
from migrate.project import discover
from migrate.table import Table

SOURCE = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, wide_number_of_channels, another_wide_number):
        super().__init__()
        self.conv = nn.Conv2d(wide_number_of_channels, another_wide_number, 3, bias=False)

    def forward(self, x):
        return torch.cat([self.conv(x), x], dim=1)
"""


def test_reasons(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(SOURCE)
    tree = port_tree([path], discover([path]), Table(), Options(jobs=1, trace=True))
    (ported,) = tree.files.values()
    lines = ported.text.split("\n")
    reasons = {
        lines[number - 1].strip(): why for number, why in ported.reasons.items() if number > 0
    }
    assert "torch.cat" in next(why for line, why in reasons.items() if "ops.cat" in line)
    assert "cell_classes" in next(why for line, why in reasons.items() if "def construct" in line)
    assert "torch.nn.Module" in reasons["class Net(nn.Cell):"]
    # The call became several lines: they are Conv2d's row, not the layout's.
    padded = next(why for line, why in reasons.items() if "pad_mode" in line)
    assert "torch.nn.Conv2d" in padded
    assert "long_lines" not in padded


def test_nothing_is_traced_unless_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(SOURCE)
    (ported,) = port_tree([path], discover([path]), Table(), Options(jobs=1)).files.values()
    assert ported.reasons == {}
