"""Two preprocessing pipelines on the same image: the same, and shrunk without antialiasing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from migrate.cli import main
from migrate.parity.data_parity import compare

FUNCTIONS = """
import numpy as np
from PIL import Image


def antialiased(path):
    image = Image.open(path).convert("RGB").resize((8, 8), Image.BILINEAR)
    return np.asarray(image, np.float32).transpose(2, 0, 1) / 255


def nearest(path):
    image = Image.open(path).convert("RGB").resize((8, 8), Image.NEAREST)
    return np.asarray(image, np.float32).transpose(2, 0, 1) / 255
"""


@pytest.mark.frameworks
def test_pipelines_are_compared_image_by_image(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from PIL import Image

    noise = np.random.default_rng(0).integers(0, 256, (40, 40, 3)).astype(np.uint8)
    Image.fromarray(noise).save(tmp_path / "noise.png")
    file = tmp_path / "pipelines.py"
    file.write_text(FUNCTIONS)
    words = ["parity", "--images", str(tmp_path / "noise.png"), "--format", "json", "--data"]
    assert main([*words, f"{file}:antialiased", f"{file}:antialiased"]) == 0
    capsys.readouterr()
    assert main([*words, f"{file}:antialiased", f"{file}:nearest"]) == 1
    image = json.loads(capsys.readouterr().out)["images"][0]
    assert not image["agrees"] and image["measures"]["max_abs"] > 0.1


def test_shapes_and_rounding_are_told_apart() -> None:
    image = np.ones((3, 4, 4), np.float32)
    assert compare("a", image, image + np.float32(1e-6), 1e-4).ok
    assert "shape" in compare("a", image, image[:, :2], 1e-4).problem
    assert not compare("a", image, image + np.float32(0.02), 1e-4).ok
