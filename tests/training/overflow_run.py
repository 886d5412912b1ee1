"""Sixteen steps of the ported LeNet-5 in float16; one batch is far out of its range."""

from __future__ import annotations

import sys
from typing import Any

import mindspore
import numpy as np
from mindspore import nn
from mindspore.experimental import optim

INJECTED = 5


def train(mode: str, ported: str) -> dict[str, Any]:
    """Loss, scale and whether a weight moved, for every step."""
    sys.path.insert(0, ported)
    import ms_migrate_helpers as helpers

    from lenet import lenet5

    mindspore.set_context(mode=mindspore.GRAPH_MODE if mode == "graph" else mindspore.PYNATIVE_MODE)
    mindspore.set_seed(1)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 32)
    patterns = rng.standard_normal((10, 3, 32, 32))
    images = (patterns[labels] + 0.3 * rng.standard_normal((32, 3, 32, 32))).astype(np.float32)
    target = mindspore.Tensor(labels.astype(np.int32))
    model = lenet5()
    model.set_train()
    optimizer = optim.SGD(model.trainable_params(), lr=0.05, momentum=0.9)
    scaler = helpers.GradScaler("cpu", init_scale=1024.0, growth_interval=4)
    criterion = nn.CrossEntropyLoss()

    @helpers.autocast("cuda")
    def forward_step(images, target):
        output = model(images)
        loss = criterion(output.astype(mindspore.float32), target)
        return scaler.scale(loss), loss, output

    step = helpers.value_and_grad(forward_step, None, optimizer.parameters, has_aux=True)
    history: dict[str, Any] = {"loss": [], "scale": [], "moved": []}
    for number in range(16):
        before = [p.asnumpy().copy() for p in optimizer.parameters]
        batch = mindspore.Tensor(images * (1e30 if number == INJECTED else 1.0))
        (_, loss, output), grads = step(batch, target)
        scaler.step(optimizer, grads)
        scaler.update()
        after = [p.asnumpy() for p in optimizer.parameters]
        history["loss"].append(float(loss.asnumpy()))
        history["scale"].append(scaler.get_scale())
        history["moved"].append(any((a != b).any() for a, b in zip(after, before, strict=True)))
    history["finite"] = all(np.isfinite(p.asnumpy()).all() for p in model.get_parameters())
    history["half"] = output.dtype == mindspore.float16
    return history
