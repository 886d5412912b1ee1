"""A compiled step is called again and again: its gradients are torch's at every call.

The kernel behind the gradient of MindSpore's constant padding (CPU) changes its own widths: the
first call of a graph is right, the later ones are not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from migrate.cli import main

SOURCE = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.how = how
        self.scale = nn.Parameter(torch.ones(2, 6, 7))
        self.constant = nn.ConstantPad2d(1, 0.5)
        self.zero = nn.ZeroPad2d((1, 2, 0, 1))
        self.circular = nn.CircularPad2d(1)
        self.reflection = nn.ReflectionPad2d(1)
        self.replication = nn.ReplicationPad2d(1)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.rounded_up = nn.MaxPool2d(2, 2, ceil_mode=True)
        self.around = nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular", bias=False)
        self.same = nn.Conv2d(2, 2, 4, padding="same", bias=False)
        self.up = nn.ConvTranspose2d(2, 2, 3, stride=2, output_padding=1, bias=False)
        nn.init.constant_(self.around.weight, 0.3)
        nn.init.constant_(self.same.weight, 0.3)
        nn.init.constant_(self.up.weight, 0.3)

    def forward(self, x):
        x = x * self.scale
        if self.how == "functional":
            x = F.pad(x, (1, 1, 2, 0))
        elif self.how == "value":
            x = F.pad(x, (0, 1), value=-2.0)
        elif self.how == "cropped":
            x = F.pad(x, (-1, 1))
        elif self.how == "mode":
            x = F.pad(x, (1, 1, 1, 1), mode="replicate")
        elif self.how == "constant":
            x = self.constant(x)
        elif self.how == "zero":
            x = self.zero(x)
        elif self.how == "circular":
            x = self.circular(x)
        elif self.how == "reflection":
            x = self.reflection(x)
        elif self.how == "replication":
            x = self.replication(x)
        elif self.how == "pool":
            x = self.pool(x)
        elif self.how == "rounded_up":
            x = self.rounded_up(x)
        elif self.how == "around":
            x = self.around(x)
        elif self.how == "same":
            x = self.same(x)
        else:
            x = self.up(x)
        return (x * x).sum()
"""
WAYS = [
    "functional",
    "value",
    "cropped",
    "mode",
    "constant",
    "zero",
    "circular",
    "reflection",
    "replication",
    "pool",
    "rounded_up",
    "around",
    "same",
    "up",
]


def _torch_side(source, ways, batches):
    import torch

    space = {}
    exec(compile(source, "<torch>", "exec"), space)
    found = {}
    for way in ways:
        net = space["Net"](way)
        found[way] = []
        for batch in batches:
            net.zero_grad()
            net(torch.from_numpy(batch)).backward()
            found[way].append(net.scale.grad.numpy().copy())
    return found


def _mindspore_side(folder, ways, batches):
    import sys

    import mindspore

    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    sys.path.insert(0, folder)
    from net import Net

    found = {}
    for way in ways:
        net = Net(way)
        net.set_train()
        step = mindspore.jit(mindspore.value_and_grad(net, None, [net.scale]))
        found[way] = [step(mindspore.Tensor(batch))[1][0].asnumpy() for batch in batches]
    return found


@pytest.mark.frameworks
def test_every_call_of_a_graph_has_torchs_gradient(tmp_path: Path, run_in_worker: Any) -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    batches = [rng.normal(size=(3, 2, 6, 7)).astype(np.float32) for _ in range(5)]
    source = tmp_path / "net.py"
    source.write_text(SOURCE)
    assert main(["port", str(source), "-o", str(tmp_path / "ported"), "--quiet"]) == 0
    theirs = run_in_worker(_torch_side, SOURCE, WAYS, batches)
    ours = run_in_worker(_mindspore_side, str(tmp_path / "ported"), WAYS, batches)
    for way in WAYS:
        for call, (left, right) in enumerate(zip(theirs[way], ours[way], strict=True)):
            np.testing.assert_allclose(
                right, left, rtol=1e-4, atol=1e-4, err_msg=f"{way}, call {call}"
            )
