"""What a function gives back that it was given is each caller's own."""

from __future__ import annotations

from pathlib import Path

TOOLS = """\
import torch

def prepared(net, device):
    for p in net.parameters():
        torch.nn.init.zeros_(p)
    if device:
        net = torch.nn.DataParallel(net)
    return net.to(device)
"""
PAIRS = """\
import torch
from tools import prepared

class Pair(torch.nn.Module):
    def forward(self, x):
        return x.sum(), x.mean()

low, high = prepared(Pair(), 0)(torch.ones(2))
"""
SINGLE = """\
import torch
from tools import prepared

class Single(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)

best = prepared(Single(), 0)(torch.ones(2, 2)).max(1).indices
"""


def test_a_network_that_comes_back_is_the_one_that_was_given(port_files) -> None:
    files = {"a_pairs.py": PAIRS, "b_single.py": SINGLE, "tools.py": TOOLS}
    ported = port_files(files, *files)
    assert "(ops.ones((2, 2))).max(dim=1)[1]" in ported.files[Path("b_single.py")].text
