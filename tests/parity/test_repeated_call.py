"""A compiled step that is right at its first call alone does not pass parity."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from migrate.cli import main

TORCH = """\
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3)
        self.fc = nn.Linear(3 * 7 * 7, 4)

    def forward(self, x):
        return self.fc(F.pad(self.conv(x), (1, 0, 0, 1)).flatten(1))
"""
# Written by hand: the kernel behind the gradient of ops.pad changes its own widths (CPU).
MINDSPORE = """\
from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3, pad_mode="pad", has_bias=True)
        self.fc = nn.Dense(3 * 7 * 7, 4)

    def construct(self, x):
        padded = ops.pad(self.conv(x), (1, 0, 0, 1))
        return self.fc(padded.reshape(x.shape[0], -1))
"""


@pytest.mark.frameworks
def test_a_gradient_that_changes_at_the_second_call_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs, ours = tmp_path / "theirs.py", tmp_path / "ours.py"
    theirs.write_text(TORCH)
    ours.write_text(MINDSPORE)
    words = [f"{theirs}:Net", f"{ours}:Net", "--input", "4,2,8,8", "--classes", "4", "--quiet"]
    assert main(["parity", *words, "--mode", "graph"]) == 1
    found = " ".join(capsys.readouterr().out.split())
    assert "called twice with the same weights and inputs" in found
    assert main(["parity", *words, "--mode", "pynative"]) == 0


@pytest.mark.frameworks
def test_the_second_gradient_is_the_one_that_is_compared(run_in_worker) -> None:
    def compared(first, second):
        import mindspore

        from migrate.parity.mindspore_side.repeated_call import compare

        arrays = {"gradient:w": first}
        notes = compare([("w", mindspore.Tensor(second))], arrays)
        return notes, arrays["gradient:w"]

    first = np.array([1.0, -2.0], np.float32)
    notes, kept = run_in_worker(compared, first, first + np.float32(1e-6))
    assert notes == [] and (kept == first).all()
    notes, kept = run_in_worker(compared, first, np.array([1.0, np.nan], np.float32))
    assert "1 of 1 gradients differ (w first)" in notes[0]
    assert np.isnan(kept[1])
