"""In Graph mode a step compiles once, however often the function around it is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.training.conftest import CHECKOUT, run_program

pytestmark = pytest.mark.frameworks

SCRIPT = """
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 3
x = torch.from_numpy(np.random.default_rng(0).standard_normal((16, 6)).astype("float32"))
loader = DataLoader(TensorDataset(x, x.sum(1)), batch_size=8)


def build():
    return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))


def train_one_epoch(model: nn.Module, optimizer: torch.optim.Optimizer):
    model.train()
    for data, target in loader:
        optimizer.zero_grad()
        loss = ((model(data).squeeze(1) - target) ** 2).mean()
        loss.backward()
        optimizer.step()
    return loss.item()


def validate(model: nn.Module):
    model.eval()
    with torch.no_grad():
        return [model(data).mean().item() for data, _ in loader]


class Trainer:
    def __init__(self):
        self.model = build()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.scale = 1.0

    def train_epoch(self):
        self.model.train()
        for data, target in loader:
            loss = self.scale * ((self.model(data).squeeze(1) - target) ** 2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


def in_function():
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(EPOCHS):
        yield train_one_epoch(model, optimizer)
        validate(model)


def in_method():
    trainer = Trainer()
    for epoch in range(EPOCHS):
        yield trainer.train_epoch()
        validate(trainer.model)


def with_a_changing_setting():
    trainer = Trainer()
    for epoch in range(EPOCHS):
        trainer.scale = 1.0 + epoch
        yield trainer.train_epoch()
"""

COUNT = """
import json
import mindspore
from mindspore.graph.api import ms_compile_cache
mindspore.set_context(mode=mindspore.GRAPH_MODE)
import script

found = {}
for name in ("in_function", "in_method", "with_a_changing_setting"):
    counts = []
    for loss in getattr(script, name)():
        counts.append(len(ms_compile_cache))
    found[name] = counts
print(json.dumps(found))
"""


def test_later_epochs_compile_nothing(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    out = tmp_path / "out"
    run_program("-m", "migrate", "port", tmp_path / "script.py", "-o", out, cwd=CHECKOUT)
    counts = json.loads(run_program("-c", COUNT, cwd=out).splitlines()[-1])
    first, *later = counts["in_function"]
    assert first >= 1 and later == [first, first]
    first, *later = counts["in_method"]
    assert later == [first, first]
    # A value that the graph holds as a constant has changed: keeping the old graph would be wrong.
    first, second, third = counts["with_a_changing_setting"]
    assert first < second < third
