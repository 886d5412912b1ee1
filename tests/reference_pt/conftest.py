"""Load the reference programs as modules, or run them as a user would."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from migrate.resources import folder

PROGRAMS = folder("reference_pt")
SIBLINGS = ("data", "eval", "lenet", "losses", "resnet", "schedules", "train")

# torchvision's wheel needs a hand beside a CPU build of torch; the program itself is untouched.
_LAUNCHER = """\
import runpy, sys
from migrate.vision_shim import ensure_torchvision
ensure_torchvision()
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Import a program by name and forget it afterwards, for `data` is not our name to keep."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    monkeypatch.syspath_prepend(str(PROGRAMS))
    yield importlib.import_module
    for name in SIBLINGS:
        sys.modules.pop(name, None)


@pytest.fixture
def run_program(tmp_path: Path) -> Callable[..., str]:
    """Run a program in a fresh interpreter in `tmp_path` and return what it printed."""

    def run(name: str, *arguments: object, expect: int = 0, vision: bool = False) -> str:
        launcher = ["-c", _LAUNCHER] if vision else []
        done = subprocess.run(
            [sys.executable, *launcher, str(PROGRAMS / name), *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return done.stdout + (done.stderr if expect else "")

    return run


@pytest.fixture
def cifar10(tmp_path: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    """Tiny CIFAR-10 binaries: two training files of 20 records and a test file of 10."""
    root = tmp_path / "cifar-10-batches-bin"
    root.mkdir()
    random = np.random.default_rng(7)
    records = random.integers(0, 256, size=(50, 3073), dtype=np.uint8)
    records[:, 0] = np.arange(50) % 10
    for name, part in [
        ("data_batch_1.bin", records[:20]),
        ("data_batch_2.bin", records[20:40]),
        ("test_batch.bin", records[40:]),
    ]:
        part.tofile(root / name)
    return root, records[:40], records[40:]


@pytest.fixture
def image_folder(tmp_path: Path) -> Path:
    """An ImageNet-style folder: two classes of landscape and portrait JPEG files."""
    from PIL import Image

    random = np.random.default_rng(3)
    for split, count in (("train", 4), ("val", 3)):
        for label in ("cat", "dog"):
            place = tmp_path / "images" / split / label
            place.mkdir(parents=True)
            for index in range(count):
                shape = (260, 300, 3) if index % 2 else (320, 280, 3)
                pixels = random.integers(0, 256, size=shape, dtype=np.uint8)
                Image.fromarray(pixels).save(place / f"{index}.jpg", quality=95)
    return tmp_path / "images"
