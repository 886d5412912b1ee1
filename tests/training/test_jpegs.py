"""Folders of JPEGs: decoding, resizing, cropping and normalising give torchvision's batches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.training.conftest import PORTED, REFERENCE, WITH_TORCHVISION, run_program

pytestmark = pytest.mark.frameworks

# Beside data.py of either program: what build_loader gives for both splits, in one file.
SAVE = """
import argparse, sys
import numpy as np
from data import add_data_arguments, build_loader

parser = argparse.ArgumentParser()
add_data_arguments(parser)
args = parser.parse_args(sys.argv[2:])
found = {}
for split in (True, False):
    for number, (images, labels) in enumerate(build_loader(args, train=split)):
        images = images.asnumpy() if hasattr(images, "asnumpy") else images.numpy()
        labels = labels.asnumpy() if hasattr(labels, "asnumpy") else labels.numpy()
        found[f"{split} {number} images"], found[f"{split} {number} labels"] = images, labels
np.savez(sys.argv[1], **found)
"""


def write_jpegs(folder: Path) -> None:
    """One folder per class under train and val, images of different sizes."""
    rng = np.random.default_rng(11)
    for split in ("train", "val"):
        for number, name in enumerate(("ant", "bee", "cat")):
            (folder / split / name).mkdir(parents=True)
            for index in range(2):
                size = (280 + 20 * index, 260 + 10 * number, 3)
                smooth = np.linspace(0, 200, size[1])[None, :, None] + rng.integers(0, 55, size)
                image = Image.fromarray(smooth.astype(np.uint8))
                image.save(folder / split / name / f"{index}.jpg", quality=90)


def test_batches_of_jpegs_agree(tmp_path: Path) -> None:
    write_jpegs(tmp_path)
    (tmp_path / "save.py").write_text(SAVE)
    options = ["--data", "imagenet", "--data-dir", tmp_path, "--batch-size", "4"]
    options += ["--no-shuffle", "--no-augment"]
    script, files = tmp_path / "save.py", [tmp_path / "torch.npz", tmp_path / "mindspore.npz"]
    run_program("-c", WITH_TORCHVISION, script, files[0], *options, cwd=REFERENCE)
    run_program("-c", WITH_TORCHVISION, script, files[1], *options, cwd=PORTED)
    theirs, ours = (dict(np.load(path)) for path in files)
    # One whole batch to train on, and two to evaluate, the last of them short.
    assert list(ours) == list(theirs) and len(ours) == 6
    assert ours["False 1 images"].shape == (2, 3, 224, 224)
    assert ours["True 0 labels"].tolist() == [0, 0, 1, 1]
    for name, expected in theirs.items():
        assert ours[name].dtype == expected.dtype
        np.testing.assert_allclose(ours[name], expected, rtol=0, atol=2e-6, err_msg=name)
