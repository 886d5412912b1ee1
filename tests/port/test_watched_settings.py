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


BUILT = """\
import torch
from torch import nn
from torchvision.models import resnet18

KEPT = resnet18()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)


def build():
    return Net()


def kept():
    return KEPT


def use(x, other):
    %s
    return net
"""


@pytest.mark.parametrize(
    "lines",
    [
        ["net = resnet18()", "net.fc = nn.Linear(8, 2)"],
        ["net = build()", "net.fc = nn.Linear(net.fc.in_features, 2)"],
        ["net = Net()", "net.load_state_dict(torch.load('x.pt'))", "net.fc = nn.Linear(2, 2)"],
    ],
)
def test_another_head_on_a_new_network_is_no_change(port, lines: list[str]) -> None:
    assert "watched_settings" not in port(BUILT % "\n    ".join(lines)).helpers


@pytest.mark.parametrize(
    "lines",
    [
        ["net = Net()", "net(x)", "net.fc = nn.Linear(2, 2)"],
        ["net = Net()", "net.fc(x)", "net.fc = nn.Linear(2, 2)"],
        ["net = Net()", "other(net)", "net.fc = nn.Linear(2, 2)"],
        ["net = Net()", "again = net", "again(x)", "net.fc = nn.Linear(2, 2)"],
        ["net = kept()", "net.fc = nn.Linear(2, 2)"],
        ["net = KEPT", "net.fc = nn.Linear(2, 2)"],
        ["if other is None:", "    other = Net()", "other.fc = nn.Linear(2, 2)", "net = other"],
        ["global net", "net = Net()", "net.fc = nn.Linear(2, 2)"],
        ["net = Net()", "for _ in x:", "    net.fc = nn.Linear(2, 2)", "    net(x)"],
        ["for _ in x:", "    net = Net()", "    net.fc = nn.Linear(2, 2)"],
        ["net = Net()", "def change():", "    net.fc = nn.Linear(2, 2)"],
    ],
)
def test_another_head_on_a_network_that_may_have_run_is_a_change(port, lines: list[str]) -> None:
    assert "watched_settings" in port(BUILT % "\n    ".join(lines)).helpers


METER = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.scale = scale

    def forward(self, x):
        return self.fc(x) * self.scale.factor


class Meter:
    def update(self, value):
        self.total = self.total + value
        %s


def train(net, opt, batches, meter):
    for x in batches:
        loss = net(x).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        meter.update(loss.item())
        print(meter.total)
"""


@pytest.mark.parametrize(("also", "watched"), [("pass", False), ("self.factor = value", True)])
def test_only_what_layers_read_counts(port, also: str, watched: bool) -> None:
    assert ("watched_settings" in port(METER % also).helpers) is watched
