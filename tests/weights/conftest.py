"""Checkpoints to convert, made once by torch in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MODEL = '''
import torch
from torch import nn


class Model(nn.Module):
    """One of each layer whose tensors MindSpore names or shapes differently."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.norm = nn.LayerNorm(8)
        self.emb = nn.Embedding(7, 8)
        self.act = nn.PReLU(4)
        self.line = nn.Conv1d(3, 4, 5)
        self.bn3 = nn.BatchNorm3d(2)
        self.head = nn.Linear(8, 7, bias=False)
        self.head.weight = self.emb.weight
        self.register_buffer("table", torch.arange(6))
'''
MAKE = """
import os, pickle
import torch
from weights_model import Model

torch.manual_seed(0)
model = Model()
model.bn.running_mean.normal_()
model.bn.running_var.uniform_(0.5, 2.0)
model.bn.num_batches_tracked.fill_(17)
torch.save(model.state_dict(), "full.pth")
plain = {k: v for k, v in model.state_dict().items() if k.split(".")[0] in ("conv", "bn", "norm")}
plain["fc.weight"] = torch.randn(5, 8).to(torch.bfloat16)
plain["fc.bias"] = torch.tensor([0.0, -0.0, float("nan"), float("inf"), 1e-42])
torch.save(plain, "plain.pth")
wrapped = {"module." + k: v for k, v in plain.items()}
optimizer = torch.optim.Adam(model.parameters())
torch.save({"epoch": 3, "state_dict": wrapped, "optimizer": optimizer.state_dict()}, "nested.pth")


class Evil:
    def __reduce__(self):
        return os.mkdir, ("PWNED",)


torch.save({"weight": torch.ones(2), "evil": Evil()}, "evil.pth")
content = open("plain.pth", "rb").read()
open("cut.pth", "wb").write(content[: len(content) // 2])
"""


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    (folder / "weights_model.py").write_text(MODEL)
    (folder / "make.py").write_text(MAKE)
    subprocess.run([sys.executable, "make.py"], cwd=folder, check=True, timeout=300)
    return folder
