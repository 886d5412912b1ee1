"""Values that MindSpore's kernels or indices take otherwise: run in both frameworks and modes."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.cli import main

NET = """
import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    conv = torch.conv1d

    def __init__(self, weight=None):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.entries = nn.Parameter(torch.tensor([0.5, -0.25, 2.0]))
        self.lower = np.tril_indices(3, k=-1)
        self.register_buffer("scale", weight)

    def forward(self, x):
        if self.scale is not None:
            self.scale = self.scale * 2
        mix = self.entries.new_zeros(3, 3)
        mix[self.lower[0], self.lower[1]] = self.entries
        mix = mix.fill_diagonal_(1)
        y = self.fc(x) @ mix
        same = y[:, :1].expand(-1, 3)  # no spread at all: the gradient is zero, not NaN
        spread = same.std(1) + same.var(dim=1) + y.std(dim=1) + torch.var(y, 1, unbiased=False)
        kernel = torch.ones(1, 1, 2, dtype=torch.promote_types(y.dtype, torch.float16))
        z = self.conv(y.unsqueeze(1), kernel, padding=1).squeeze(1)
        return torch.as_tensor(z, device=z.device) + spread.unsqueeze(1)
"""


@pytest.mark.frameworks
def test_a_step_agrees_in_both_modes(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "net.py", tmp_path / "out" / "net.py"
    theirs.write_text(NET)
    assert main(["port", str(theirs), "-o", str(ours.parent), "--quiet"]) == 0
    words = ["parity", f"{theirs}:Net", f"{ours}:Net", "--input", "5,3", "--classes", "4"]
    assert main([*words, "--quiet"]) == 0


def test_what_the_rows_write(port) -> None:
    ported = port(
        "import torch\n\n\ndef f(x: torch.Tensor, k):\n"
        "    return torch.Tensor(), torch.as_tensor(x), torch.as_tensor(k), x.std(1, False)\n"
    )
    assert not ported.findings
    assert (
        "return ops.zeros((0,)), x, helpers.shared_tensor(k), helpers.std(x, 1, False)"
        in ported.text
    )
