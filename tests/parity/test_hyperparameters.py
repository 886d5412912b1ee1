"""Settings of two scripts side by side, read and never run."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.cli import main
from migrate.parity.hyperparameters import pair, read

TORCH = """
import torch
EPOCHS = 3
batch_size = 32
def main(lr=0.1):
    loss = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.1)
    loader = torch.utils.data.DataLoader(data, batch_size=batch_size, drop_last=True)
raise SystemExit("must not run")
"""
MINDSPORE = """
from mindspore import nn
batch_size = 64
def main(lr=1e-1):
    loss = nn.CrossEntropyLoss()
    params = net.trainable_params()
    optimizer = nn.Momentum(params, learning_rate=0.1, momentum=0.9, weight_decay=0.0001)
    data = data.batch(batch_size, drop_remainder=True)
"""


@pytest.fixture
def scripts(tmp_path: Path) -> list[str]:
    ours, theirs = tmp_path / "torch_script.py", tmp_path / "ms_script.py"
    ours.write_text(TORCH)
    theirs.write_text(MINDSPORE)
    return [str(ours), str(theirs)]


def test_settings_are_paired_under_one_name(scripts: list[str]) -> None:
    lines = {(line.group, line.name): line for line in pair(*(read(Path(s)) for s in scripts))}
    assert not lines["optimizer", "lr"].differs
    assert not lines["optimizer", "weight_decay"].differs, "1e-4 is 0.0001"
    assert not lines["script", "lr"].differs
    assert lines["optimizer", "class"].differs
    assert lines["script", "batch size"].differs
    assert lines["loss", "label_smoothing"].mindspore is None
    assert lines["schedule", "step_size"].mindspore is None
    assert not lines["data", "drop_last"].differs


def test_the_command_points_at_what_differs(
    scripts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["parity", "--hyperparameters", *scripts]) == 1
    shown = capsys.readouterr().out
    assert any(line.startswith("!") and "batch size" in line for line in shown.splitlines())
    assert main(["parity", "--hyperparameters", scripts[0], scripts[0]]) == 0
