"""Attributes that a network assigns when it runs: a graph does it once, when it is built."""

from __future__ import annotations

import textwrap

import pytest

NETWORK = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)
            self.kept = None

        def forward(self, x):
            {first}
            self.kept = y
            return y

        def sum(self):
            return {method}
"""
PLAIN = {"first": "y = self.fc(x)", "method": "0"}


def ported(port, behind: str = "", **parts: str) -> str:
    source = textwrap.dedent(NETWORK).format(**PLAIN | parts)
    return port("import torch\nimport torch.nn as nn\n" + source + textwrap.dedent(behind)).text


@pytest.mark.parametrize(
    "parts",
    [
        {"first": "y = self.fc(x) if self.kept is None else self.kept"},
        {"behind": "def show(net: Net, x):\n    net(x)\n    return net.kept\n"},
        {"behind": "def show(nets, x):\n    return [net.kept for net in nets]\n"},
    ],
)
def test_what_is_read_later_is_not_compiled(port, parts) -> None:
    text = ported(port, **parts)
    assert 'not_compiled = "self.kept would keep the value of the first call' in text


@pytest.mark.parametrize(
    "behind",
    [
        "",
        "class Other:\n    def __init__(self, kept):\n        self.kept = kept + self.kept\n",
    ],
)
def test_what_nobody_reads_is_compiled(port, behind: str) -> None:
    assert "not_compiled" not in ported(port, behind)
