"""A loss has nothing to train: what its class holds says so, not what it is called."""

from __future__ import annotations

import ast

import pytest

from migrate.flow.models import models_called

HEAD = """\
import torch
from torch import nn


class PlainLoss(nn.Module):
    def forward(self, x, y):
        return ((x - y) ** 2).mean()


class ScaledLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x, y):
        return self.scale * ((x - y) ** 2).mean()


class NestedLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = ScaledLoss()

    def forward(self, x, y):
        return self.inner(x, y)


"""


@pytest.mark.parametrize(
    ("made", "trained"),
    [
        ("nn.CrossEntropyLoss()", False),
        ("PlainLoss()", False),
        ("ScaledLoss()", True),
        ("NestedLoss()", True),
        ("nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5])", True),
    ],
)
def test_a_loss_with_parameters_is_a_network(program, made: str, trained: bool) -> None:
    p = program(f"{HEAD}def f(x, y):\n    criterion = {made}\n    return criterion(x, y)\n")
    calls = [node for node in ast.walk(p.function().node) if isinstance(node, ast.Call)]
    assert models_called(calls, p.flow) == (["criterion"] if trained else [])
