"""A big network's optimizer compiles, and a copied parameter gets its gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.frameworks


def updated(cases: list[tuple[str, bool]]) -> list[tuple[list[float], list[float]]]:
    """The weights after two updates, first in torch, then through the emitted helper."""
    import mindspore
    import numpy as np
    import torch

    from migrate.emit.helpers import optim_adam, optim_sgd

    # MindSpore compiles no loop over as many; a DenseNet-201 has 604.
    numbers = np.linspace(-1, 1, 604).astype(np.float32)
    found = []
    for optimizer, compiled in cases:
        made = {"SGD": optim_sgd.SGD, "Adam": optim_adam.Adam}[optimizer]
        mode = mindspore.GRAPH_MODE if compiled else mindspore.PYNATIVE_MODE
        mindspore.set_context(mode=mode)
        theirs = [torch.nn.Parameter(torch.tensor([n])) for n in numbers]
        ours = [
            mindspore.Parameter(mindspore.Tensor([n], mindspore.float32), name=f"p{i}")
            for i, n in enumerate(numbers)
        ]
        reference = getattr(torch.optim, optimizer)(theirs, lr=0.1, weight_decay=0.1)
        own = made(ours, lr=0.1, weight_decay=0.1)
        for factor in (1, -2):
            for parameter, n in zip(theirs, numbers, strict=True):
                parameter.grad = torch.tensor([float(n * factor)])
            reference.step()
            own(tuple(mindspore.Tensor([n * factor], mindspore.float32) for n in numbers))
        found.append(([p.item() for p in theirs], [float(p.asnumpy()[0]) for p in ours]))
    return found


def test_an_update_of_six_hundred_parameters_compiles_and_agrees(
    run_in_worker: Callable[..., Any],
) -> None:
    cases = [("SGD", False), ("SGD", True), ("Adam", True)]
    for case, (theirs, ours) in zip(cases, run_in_worker(updated, cases), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5), case


COPIED = """
import torch
from torch import nn

class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.ones(4))

    def forward(self, x):
        bias = self.bias.clone()
        bias[1:2] = 0
        other = torch.clone(self.bias)
        return x * bias + other
"""


def slopes(source: str, folder: str) -> list[list[float]]:
    """The gradient of the copied parameter in the ported model, in PyNative and Graph mode."""
    import sys
    from pathlib import Path

    import mindspore

    from migrate.cli import main

    Path(folder, "masked.py").write_text(source)
    assert main(["port", f"{folder}/masked.py", "-o", f"{folder}/out", "--quiet"]) == 0
    sys.path.insert(0, f"{folder}/out")
    from masked import Masked

    found = []
    for mode in (mindspore.PYNATIVE_MODE, mindspore.GRAPH_MODE):
        mindspore.set_context(mode=mode)
        model = Masked()
        step = mindspore.grad(model, None, model.trainable_params())
        found.append(step(mindspore.Tensor([1.0, 2.0, 3.0, 4.0]))[0].asnumpy().tolist())
    return found


def test_the_gradient_flows_through_the_copy_of_a_parameter(
    run_in_worker: Callable[..., Any], tmp_path: Any
) -> None:
    assert run_in_worker(slopes, COPIED, str(tmp_path)) == [[2.0, 1.0, 4.0, 5.0]] * 2
