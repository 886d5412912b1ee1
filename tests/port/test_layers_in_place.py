"""Layers that work in place, and who could see it."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("first", "codes"), [("nn.Linear(3, 3)", set()), ("nn.ReLU(inplace=True)", {"MS403"})]
)
def test_an_inner_function_runs_the_network_of_the_one_around_it(port, first: str, codes) -> None:
    source = f"""
    import torch
    from torch import nn


    def validate(model, loader):
        def run(total):
            for x in loader:
                total = total + model(x).sum() + x.sum()
            return total

        return run(0)


    def main():
        other = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 3))
        model = nn.Sequential({first}, nn.BatchNorm1d(3))
        return other, validate(model, [torch.ones(2, 3)])
    """
    assert {finding.code for finding in port(source).findings} == codes
