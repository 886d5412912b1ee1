"""Files that change settings between calls get the helper that builds graphs again."""

from __future__ import annotations

import pytest

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.tau = 1.0
        self.options = {"gain": 1.0}

    def forward(self, x):
        return self.fc(x) * self.tau

    def anneal(self, tau):
        %s


def use(x, opt):
    net = Net()
    y = net(x)
    %s
    return y, net(x)
"""


@pytest.mark.parametrize(
    "change",
    [
        "net.tau = 0.5",
        "net.tau *= 0.5",
        "net.fc = nn.Linear(2, 2)",
        "net.options['gain'] = 2.0",
        "setattr(net, 'tau', 0.5)",
        "opt.param_groups[0]['momentum'] = 0.5",
        "net.fc.register_forward_hook(print)",
    ],
)
def test_changes_between_calls_are_watched(port, change: str) -> None:
    result = port(NET % ("return tau", change))
    assert "watched_settings" in result.helpers
    assert "import ms_migrate_helpers as helpers" in result.text


def test_methods_that_change_settings_count(port) -> None:
    assert "watched_settings" in port(NET % ("self.tau = tau", "pass")).helpers


@pytest.mark.parametrize("other", ["pass", "x = x + net.tau", "opt.param_groups[0]['lr'] = 0.1"])
def test_programs_without_such_changes_get_no_helper(port, other: str) -> None:
    assert "watched_settings" not in port(NET % ("return tau", other)).helpers
