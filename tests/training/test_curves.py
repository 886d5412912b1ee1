"""The ported training program follows the reference: curve, resumed curve, accuracy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import (
    CHECKOUT,
    DATA,
    PORTED,
    RECIPE,
    REFERENCE,
    STEPS,
    WITH_TORCHVISION,
    curve,
    run_program,
)

pytestmark = pytest.mark.frameworks

# Measured over 16 steps without clipping: 7e-7 at worst, a few units in the last place of float32.
NOISE = 2e-5


def train(start: Path, name: str, *options: object, mode: str = "pynative") -> list[dict[str, Any]]:
    """The curve of ported_ms/train.py in this mode; its checkpoints are under `name`."""
    log = start / f"{name}.jsonl"
    own = ["--data", "cifar10", "--data-dir", start]
    own += ["--output", start / name, "--log", log, *options]
    launch = [PORTED / "scripts" / "launch.py", PORTED / "train.py", "--device_target", "CPU"]
    run_program(*launch, "--mode", mode, "--", *DATA, *RECIPE, *own, cwd=start)
    return curve(log)


def assert_same_curve(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert [(r["epoch"], r["step"]) for r in found] == [(r["epoch"], r["step"]) for r in expected]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours["lr"] == pytest.approx(theirs["lr"], rel=1e-6), (ours, theirs)
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=NOISE), (ours, theirs)


def test_the_reference_learns(reference: list[dict[str, Any]]) -> None:
    # A flat curve would agree with anything.
    assert len(reference) == STEPS
    assert reference[-1]["loss"] < reference[0]["loss"] - 0.2


def test_both_modes_follow_the_reference(start: Path, reference: list[dict[str, Any]]) -> None:
    """The first epoch in PyNative mode, the second in Graph mode, resumed from the first."""
    weights = ["--weights", start / "start.ckpt", "--stop-epoch", 1]
    first = train(start, "ported", *weights)
    assert len(first) == STEPS // 2
    resumed = start / "ported" / "last.pt"
    both = train(start, "ported", "--resume", resumed, mode="graph")
    assert_same_curve(both, reference)


def evaluation(output: str) -> dict[str, str]:
    return dict(line.split(maxsplit=1) for line in output.splitlines() if "  " in line)


def test_evaluation_agrees(
    start: Path, reference: list[dict[str, Any]], cifar10: list[str]
) -> None:
    trained = start / "reference" / "last.pt"
    converted = start / "trained.ckpt"
    run_program("-m", "migrate", "weights", trained, converted, "--key", "model", cwd=CHECKOUT)
    options = [*DATA, *cifar10, "--warmup", "1", "--repeats", "3", "--checkpoint"]
    torch_said = run_program("-c", WITH_TORCHVISION, "eval.py", *options, trained, cwd=REFERENCE)
    theirs = evaluation(torch_said)
    ours = evaluation(run_program("eval.py", *options, converted, cwd=PORTED))
    for key in ("model", "parameters", "loss", "top-1", "top-5"):
        assert ours[key] == theirs[key]
    assert theirs["parameters"] == "62,006"
    assert float(theirs["top-1"].rstrip("%")) > 20  # of ten classes: it has learnt something
    # Latency is reported alike: a median, a spread and a rate.
    assert re.sub(r"[\d.]+", "0", ours["latency"]) == re.sub(r"[\d.]+", "0", theirs["latency"])
