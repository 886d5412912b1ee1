"""One training step of two ResNet-50s in Graph mode, in turn: the port and mindcv's. Prints JSON.

Run by step_speed, in a process of its own.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
BATCH, SIZE, CLASSES = 2, 64, 1000


def stepper(model, optimizer):
    """A compiled training step, as a MindSpore author writes it."""
    import mindspore
    from mindspore import nn

    model.set_train(True)
    loss_of = nn.CrossEntropyLoss()

    def forward(x, y):
        return loss_of(model(x), y)

    slopes_of = mindspore.value_and_grad(forward, None, optimizer.parameters)

    def step(x, y):
        loss, slopes = slopes_of(x, y)
        optimizer(slopes)
        return loss

    return mindspore.jit(step)


def main(rounds: int) -> None:
    sys.path.insert(0, str(CHECKOUT / "ported_ms"))
    import mindspore
    import numpy as np
    from mindcv.models.resnet import resnet50 as theirs
    from mindspore import nn
    from ms_migrate_helpers import SGD

    from resnet import resnet50 as ours

    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    mindspore.set_device("CPU")
    random = np.random.default_rng(0)
    x = mindspore.Tensor(random.standard_normal((BATCH, 3, SIZE, SIZE)).astype(np.float32))
    y = mindspore.Tensor(random.integers(0, CLASSES, BATCH).astype(np.int32))
    made = ours(), theirs()
    steps = {
        "port": stepper(made[0], SGD(made[0].trainable_params(), lr=0.01, momentum=0.9)),
        "mindcv": stepper(made[1], nn.Momentum(made[1].trainable_params(), 0.01, 0.9)),
    }
    first: dict[str, float] = {}
    times: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(rounds + 2):
        for name, step in steps.items():
            begin = time.perf_counter()
            float(step(x, y))
            took = time.perf_counter() - begin
            if number == 0:
                first[name] = took
            elif number > 1:
                times[name].append(took)
    result = {
        name: {"first": first[name], "median": statistics.median(took), "best": min(took)}
        for name, took in times.items()
    }
    print(json.dumps(result))
    sys.stdout.flush()
    os._exit(0)  # MindSpore may crash on its way out


if __name__ == "__main__":
    main(int(sys.argv[1]))
