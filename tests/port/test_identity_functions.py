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


def test_a_list_or_one_of_what_it_holds(port) -> None:
    """Callers pass lists: the branch for a single network says nothing about them."""
    ported = port(
        """
        from torch import nn

        def set_requires_grad(nets, requires_grad=False):
            if not isinstance(nets, list):
                nets = [nets]
            for net in nets:
                for param in net.parameters():
                    param.requires_grad = requires_grad

        def count(nets):
            if isinstance(nets, (list, tuple)):
                return sum(len(list(net.parameters())) for net in nets)
            return 0

        nets = [nn.Linear(1, 1), nn.Linear(2, 2)]
        set_requires_grad(nets, False)
        print(count(nets))
        """
    )
    assert not ported.findings
    assert "for param in helpers.parameters(net):" in ported.text
    assert "list(helpers.parameters(net))" in ported.text
