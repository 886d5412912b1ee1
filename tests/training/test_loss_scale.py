"""Mixed precision: the loss scaler does what torch's does, and the port trains with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import DATA, PORTED, curve, run_program

pytestmark = pytest.mark.frameworks

# Per step, what the gradient of the bare loss is: two overflows, one of them not a number.
GRADIENTS = [1.0, 2.0, float("inf"), 0.5, 0.25, float("nan"), 1.0, 1.0, 1.0, 1.0]
SETTINGS = {"init_scale": 1024.0, "growth_interval": 3, "growth_factor": 4.0}


def torch_run(gradients: list[float], settings: dict[str, float]) -> list[tuple[float, float]]:
    """Weight and scale after every step under torch.amp.GradScaler."""
    import torch

    weight = torch.nn.Parameter(torch.tensor([1.0]))
    optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", **settings)
    history = []
    for value in gradients:
        optimizer.zero_grad()
        scaler.scale((weight * value).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        history.append((weight.item(), scaler.get_scale()))
    return history


def mindspore_runs(
    gradients: list[float], settings: dict[str, float]
) -> dict[str, list[tuple[float, float]]]:
    """The same through the emitted helpers: plainly, unscaled first, with a fixed scale."""
    import os

    import mindspore
    import numpy as np
    from mindspore.experimental import optim

    from migrate.emit.helpers.train_gradient import value_and_grad
    from migrate.emit.helpers.train_step import GradScaler

    def run(unscale_first: bool) -> list[tuple[float, float]]:
        weight = mindspore.Parameter(mindspore.Tensor(np.ones(1, np.float32)), name="weight")
        optimizer = optim.SGD([weight], lr=0.1, momentum=0.9)
        scaler = GradScaler("cpu", **settings)

        def forward_step(value):
            return scaler.scale((weight * value).sum())

        step = value_and_grad(forward_step, None, optimizer.parameters)
        history = []
        for value in gradients:
            _, grads = step(mindspore.Tensor(value, mindspore.float32))
            if unscale_first:
                grads = scaler.unscale(grads)
            scaler.step(optimizer, grads)
            scaler.update()
            history.append((float(weight.asnumpy()[0]), scaler.get_scale()))
        return history

    found = {"plain": run(False), "unscaled": run(True)}
    os.environ["MS_MIGRATE_LOSS_SCALE"] = "512"
    return {**found, "fixed": run(False)}


def test_overflow_is_skipped_and_the_scale_recovers_like_torch(
    run_in_worker: Callable[..., Any],
) -> None:
    theirs = torch_run(GRADIENTS, SETTINGS)
    ours = run_in_worker(mindspore_runs, GRADIENTS, SETTINGS)
    for kind in ("plain", "unscaled"):
        assert [scale for _, scale in ours[kind]] == [scale for _, scale in theirs]
        assert [w for w, _ in ours[kind]] == pytest.approx([w for w, _ in theirs], abs=1e-6)
    # The weight stood still at each overflow, the scale fell there and grew back after them.
    assert theirs[2][0] == theirs[1][0] and theirs[5][0] == theirs[4][0]
    assert theirs[5][1] < theirs[2][1] < theirs[1][1] == theirs[-1][1]
    # A fixed scale stays, and an overflow is skipped with it, too.
    fixed = ours["fixed"]
    assert [scale for _, scale in fixed] == [512.0] * len(GRADIENTS)
    assert fixed[2][0] == fixed[1][0] != fixed[3][0]


def test_the_port_trains_in_mixed_precision(tmp_path: Path) -> None:
    """In PyNative mode; tests/training/test_launch.py does it in Graph mode."""
    log = tmp_path / "log.jsonl"
    launch = [PORTED / "scripts" / "launch.py", PORTED / "train.py", "--mode", "pynative"]
    recipe = ["--amp", "--epochs", "2", "--samples", "80", "--lr", "0.6", "--warmup-epochs", "0"]
    run_program(
        *launch, "--amp_level", "O1", "--", *DATA, *recipe, "--output", tmp_path, "--log", log,
        cwd=tmp_path,
    )  # fmt: skip
    losses = [record["loss"] for record in curve(log)]
    assert len(losses) == 20
    assert sum(losses[-5:]) < sum(losses[:5]) - 0.5
