"""What a function computes for one caller says nothing of another that gives it something else."""

from __future__ import annotations

from tests.resolve.test_numpy_results import ported_file


def test_numpy_for_one_and_tensors_for_another(tmp_path) -> None:
    source = """
import numpy as np
import torch


def spread(x):
    return x.std(0)


print(spread(np.ones((2, 2))), spread(torch.ones(2, 2)))
"""
    result = ported_file(tmp_path, source)
    assert [finding.code for finding in result.findings] == ["MS310"]
    alone = ported_file(tmp_path, source.replace("np.ones((2, 2))", "torch.ones(3, 3)"))
    assert not alone.findings and "helpers.std(x, 0)" in alone.text


def test_another_network_gives_its_own(tmp_path) -> None:
    source = """
import torch
from torch import nn


class Pair(nn.Module):
    def forward(self, x):
        return x.max(dim=1)


class One(nn.Module):
    def forward(self, x):
        return x * 2


def call(net, x):
    return net(x)


pair = call(Pair(), torch.ones(2, 3))
print(pair.values)
one = call(One(), torch.ones(2, 3))
print(one.max(1).indices)
"""
    result = ported_file(tmp_path, source)
    assert "print(pair[0])" in result.text
    assert "one[1]" not in result.text
    assert [finding.code for finding in result.findings] == ["MS307"]
