"""A step compiles once for a shape of its batches, however often the function around it is called,
whatever the learning rate, and with a last batch that is smaller.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
x = torch.from_numpy(np.random.default_rng(0).standard_normal((20, 6)).astype("float32"))
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
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    for epoch in range(EPOCHS):
        yield train_one_epoch(model, optimizer)
        scheduler.step()
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
import sys
import mindspore
from mindspore.graph.api import ms_compile_cache
if sys.argv[1] == "graph":
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


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("once")
    (folder / "script.py").write_text(SCRIPT)
    out = folder / "out"
    run_program("-m", "migrate", "port", folder / "script.py", "-o", out, cwd=CHECKOUT)
    return out


@pytest.mark.parametrize("mode", ["auto", "graph"])
def test_later_epochs_compile_nothing(ported: Path, mode: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MS_MIGRATE_MODE", mode)
        counts = json.loads(run_program("-c", COUNT, mode, cwd=ported).splitlines()[-1])
    first, *later = counts["in_function"]
    assert first >= 1 and later == [first, first]
    first, *later = counts["in_method"]
    assert later == [first, first]
    # A value that the graph holds as a constant has changed: keeping the old graph would be wrong.
    first, second, third = counts["with_a_changing_setting"]
    assert first < second < third


WHICH = """
import numpy as np
import torch
from torch import nn

x = torch.from_numpy(np.random.default_rng(0).standard_normal((8, 6)).astype("float32"))
model = nn.Linear(6, 1)
nn.init.constant_(model.weight, 0.1)
nn.init.zeros_(model.bias)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    try:
        loss = (model(x) ** 2).mean()
    finally:
        pass
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
"""


def test_the_program_says_whether_its_step_is_compiled(tmp_path: Path) -> None:
    plain = WHICH
    (tmp_path / "guarded.py").write_text(plain)
    lines = plain.replace("    try:\n        loss", "    loss").replace(
        "    finally:\n        pass\n", ""
    )
    (tmp_path / "plain.py").write_text(lines)
    out = tmp_path / "out"
    run_program("-m", "migrate", "port", tmp_path, "-o", out, cwd=CHECKOUT)
    said = {}
    for name, mode in (("plain", "auto"), ("plain", "pynative"), ("guarded", "auto")):
        done = subprocess.run(
            [sys.executable, f"{name}.py"],
            cwd=out,
            env={**os.environ, "MS_MIGRATE_MODE": mode},
            capture_output=True,
            text=True,
            check=True,
        )
        said[name, mode] = done
    first = next(iter(said.values())).stdout
    assert len(first.splitlines()) == 3
    assert {done.stdout for done in said.values()} == {first}
    assert "The training step is compiled" in said["plain", "auto"].stderr
    assert "The training step runs in PyNative mode" in said["plain", "pynative"].stderr
    assert "the step is not compiled" not in said["plain", "auto"].stderr
    assert "the step is not compiled" in said["guarded", "auto"].stderr
