"""Run training programs as a user would: the reference under torch, its port under MindSpore."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
REFERENCE = CHECKOUT / "reference_pt"
PORTED = CHECKOUT / "ported_ms"

# torch's wheels for the CPU lack what torchvision registers against: see migrate.vision_shim.
WITH_TORCHVISION = (
    "import runpy, sys; from migrate.vision_shim import ensure_torchvision; ensure_torchvision();"
    " sys.path[0] = '.'; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"
)

# Small enough for seconds, long enough for momentum, warm-up and decay to matter.
DATA = ["--arch", "lenet5", "--image-size", "32", "--batch-size", "8"]
DATA += ["--no-shuffle", "--no-augment"]
RECIPE = ["--epochs", "2", "--samples", "80", "--lr", "0.6", "--warmup-epochs", "1"]
RECIPE += ["--clip-grad", "2.0"]
STEPS = 20  # two epochs of ten batches

Run = Callable[..., str]


def run_program(*command: str | Path, cwd: Path, timeout: float = 900) -> str:
    """What a program printed; its errors become the test's."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = str(CHECKOUT)
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr[-4000:]}"
    return done.stdout


def curve(log: Path) -> list[dict[str, Any]]:
    """The records of --log, one a step."""
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same first weights for both: start.pt and, converted, start.ckpt."""
    folder = tmp_path_factory.mktemp("training")
    save = (
        "import sys, torch; from lenet import lenet5; torch.manual_seed(3);"
        " torch.save(lenet5().state_dict(), sys.argv[1])"
    )
    run_program("-c", save, folder / "start.pt", cwd=REFERENCE)
    run_program(
        "-m", "migrate", "weights", folder / "start.pt", folder / "start.ckpt", cwd=CHECKOUT
    )
    return folder


def write_cifar10(folder: Path, images: int) -> None:
    """CIFAR-10's binary files: a label, then 32x32 planes of red, green and blue."""
    rng = np.random.default_rng(7)
    patterns = rng.integers(40, 216, (10, 3072))
    for name in ("data_batch_1.bin", "test_batch.bin"):
        labels = rng.integers(0, 10, images)
        pixels = np.clip(patterns[labels] + rng.normal(0, 30, (images, 3072)), 0, 255)
        records = np.concatenate([labels[:, None], pixels], axis=1).astype(np.uint8)
        records.tofile(folder / name)


@pytest.fixture(scope="module")
def cifar10(start: Path) -> list[str]:
    """Options for CIFAR-10 files that were made here: ten batches of eight, twice."""
    write_cifar10(start, 80)
    return ["--data", "cifar10", "--data-dir", str(start)]


@pytest.fixture(scope="module")
def reference(start: Path, cifar10: list[str]) -> list[dict[str, Any]]:
    """The curve of reference_pt/train.py; last.pt is under `reference`."""
    log = start / "reference.jsonl"
    options = ["--weights", start / "start.pt", "--output", start / "reference", "--log", log]
    command = ["-c", WITH_TORCHVISION, "train.py", *DATA, *RECIPE, *cifar10, *options]
    run_program(*command, cwd=REFERENCE)
    return curve(log)
