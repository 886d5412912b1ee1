"""`port --data native`: pipelines give torch's batches, and new orders and images every epoch."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from migrate.cli import main
from tests.training.conftest import WITH_TORCHVISION, run_program

pytestmark = pytest.mark.frameworks
PROGRAM = Path(__file__).with_name("loaders_program.py")
# torchvision checks the sums of the real files.
UNCHECKED = "import torchvision.datasets.cifar as c; c.check_integrity = lambda *a: True;"


def write_images(root: Path) -> None:
    """A folder of JPEGs, and CIFAR-10 and MNIST with a few images each."""
    draws = np.random.default_rng(0)
    for name in "abc":
        (root / "folder" / name).mkdir(parents=True)
        for number in range(9):
            height, width = (int(side) for side in draws.integers(90, 160, 2))
            small = draws.integers(0, 256, (height // 8, width // 8, 3), np.uint8)
            image = Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)
            image.save(root / "folder" / name / f"{number}.jpg")
    home = root / "cifar-10-batches-py"
    home.mkdir()
    for name in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"):
        images = draws.integers(0, 256, (8, 3072)).astype(np.uint8)
        content = {"data": images, "labels": draws.integers(0, 10, 8).tolist()}
        (home / name).write_bytes(pickle.dumps(content))
    (home / "batches.meta").write_bytes(pickle.dumps({"label_names": list("abcdefghij")}))
    raw = root / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for part in ("train", "t10k"):
        images = draws.integers(0, 256, (13, 28, 28)).astype(np.uint8).tobytes()
        labels = draws.integers(0, 10, 13).astype(np.uint8).tobytes()
        head = struct.pack(">iiii", 2051, 13, 28, 28), struct.pack(">ii", 2049, 13)
        (raw / f"{part}-images-idx3-ubyte").write_bytes(head[0] + images)
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(head[1] + labels)


def loaded(output: str) -> dict[str, Any]:
    line = next(line for line in output.splitlines() if line.startswith("RESULT "))
    found: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
    return found


def test_pipelines_give_torchs_batches(tmp_path: Path) -> None:
    root = tmp_path / "data"
    root.mkdir()
    write_images(root)
    shim = WITH_TORCHVISION.replace(
        "ensure_torchvision();", f"ensure_torchvision(); {UNCHECKED}", 1
    )
    theirs = loaded(run_program("-c", shim, PROGRAM, root, cwd=tmp_path))
    out = tmp_path / "out"
    assert main(["port", str(PROGRAM), "-o", str(out), "-q", "--data", "native"]) == 0
    ours = loaded(run_program(out / PROGRAM.name, root, cwd=out))
    assert ours == theirs
