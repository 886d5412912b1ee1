"""The least that a check of ResNet-50 must do, without watching anything: `parity_bare.py SIDE`.

Each side imports its framework, builds the model, and takes the steps that the check needs: torch
one in float64 and six in float32, MindSpore one, eager or compiled.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
SHAPE, CLASSES, NOISE_RUNS = (8, 3, 64, 64), 1000, 6


def torch_side() -> None:
    sys.path.insert(0, str(CHECKOUT / "reference_pt"))
    import torch

    from resnet import resnet50

    model = resnet50()
    x, y = torch.randn(SHAPE), torch.randint(0, CLASSES, SHAPE[:1])
    for dtype in (torch.float64, *[torch.float32] * NOISE_RUNS):
        model.to(dtype)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        given = x.to(dtype).requires_grad_(True)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(given), y).backward()
        optimizer.step()


def mindspore_side(mode: str) -> None:
    sys.path.insert(0, str(CHECKOUT / "ported_ms"))
    import mindspore
    import numpy as np
    from mindspore import ops
    from ms_migrate_helpers import SGD

    from resnet import resnet50

    graph = mode == "graph"
    mindspore.set_context(mode=mindspore.GRAPH_MODE if graph else mindspore.PYNATIVE_MODE)
    mindspore.set_device("CPU")
    model = resnet50()
    model.set_train(True)
    weights = mindspore.ParameterTuple(model.trainable_params())
    optimizer = SGD(model.trainable_params(), lr=0.01)
    random = np.random.default_rng(0)
    x = mindspore.Tensor(random.standard_normal(SHAPE).astype(np.float32))
    y = mindspore.Tensor(random.integers(0, CLASSES, SHAPE[:1]).astype(np.int32))

    def forward(x, y):
        output = model(x)
        return ops.cross_entropy(output, y), output

    slopes_of = mindspore.value_and_grad(forward, 0, weights, has_aux=True)

    def step(x, y):
        (loss, _), (_, slopes) = slopes_of(x, y)
        optimizer(slopes)
        return loss

    float((mindspore.jit(step) if graph else step)(x, y))


if __name__ == "__main__":
    side = sys.argv[1]
    torch_side() if side == "torch" else mindspore_side(side)
    sys.stdout.flush()
    os._exit(0)
