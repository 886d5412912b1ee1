"""Image transforms: MindSpore's own in a pipeline, Tensors wherever the program sees the result."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from migrate.cli import main

HEAD = (
    "from torchvision import transforms as T\nfrom torchvision.transforms import functional as TF\n"
)


@pytest.mark.parametrize(
    "source",
    [
        "t = T.Compose([T.ToTensor(), T.Normalize([0.5], [0.5])])\n",
        "steps = [T.ToTensor()]\nsteps += [T.Normalize([0.5], [0.5])]\nt = T.Compose(steps)\n",
        "steps = []\nsteps.append(T.ToTensor())\n"
        "normalize = T.Normalize([0.5], [0.5])\nt = T.Compose([*steps, normalize])\n",
        "t = T.Compose([T.ToTensor()] + [T.Normalize([0.5], [0.5])])\n",
    ],
)
def test_a_pipeline_is_made_of_mindspores_transforms(port, source: str) -> None:
    text = port(HEAD + source).text
    assert "vision.ToTensor()" in text
    assert "vision.Normalize([0.5], [0.5], is_hwc=False)" in text
    assert "helpers.Normalize" not in text and "helpers.ToTensor" not in text


def test_elsewhere_they_give_tensors(port) -> None:
    source = """\
        t = T.ToTensor()
        n = T.Normalize([0.5], [0.5])
        c = T.Compose([T.Resize(4), n])

        def load(img):
            x = n(t(img))
            return x.size(1), TF.to_tensor(img).unsqueeze(0), TF.normalize(x, [0.5], [0.5])
        """
    result = port(HEAD + textwrap.dedent(source))
    assert not result.findings
    assert "t = helpers.ToTensor()" in result.text
    assert "n = helpers.Normalize([0.5], [0.5])" in result.text
    assert "x.shape[1], helpers.ToTensor()(img).unsqueeze(0)" in result.text


PROGRAM = """
import numpy as np
import torch
from PIL import Image
from torchvision import transforms as T

image = Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3))


def halve(x):
    assert isinstance(x, torch.Tensor), type(x)
    return x / 2


pipeline = T.Compose([T.ToTensor(), T.Lambda(halve), T.Normalize([0.1] * 3, [0.2] * 3)])
nested = T.Compose([T.Compose([T.ToTensor(), halve]), T.Normalize([0.1] * 3, [0.2] * 3)])
alone = T.Normalize([0.1] * 3, [0.2] * 3)
expected = (np.asarray(image).transpose(2, 0, 1) / 255 / 2 - 0.1) / 0.2
for made in (pipeline(image), nested(image), alone(halve(T.ToTensor()(image)))):
    batch = made.unsqueeze(0)
    assert isinstance(made, torch.Tensor) and tuple(batch.shape) == (1, 3, 4, 4)
    assert np.allclose(made.numpy(), expected, atol=1e-6)
pixels = T.PILToTensor()(image)
assert pixels.dtype == torch.uint8 and int(pixels.max()) == 47
print("same")
"""


@pytest.mark.frameworks
def test_the_ported_program_sees_tensors(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    words = ["port", str(tmp_path / "program.py"), "-o", str(tmp_path / "out"), "--quiet"]
    assert main(words) == 0
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path / "out",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip().endswith("same"), done.stderr[-800:]


@pytest.mark.frameworks
def test_enumerations_have_torchvision_s_members() -> None:
    """Wrappers of transforms that are passed as values have such members for defaults."""
    from migrate.emit.helpers.data_modes import AutoAugmentPolicy, InterpolationMode

    assert AutoAugmentPolicy.IMAGENET is AutoAugmentPolicy("imagenet")
    assert InterpolationMode.NEAREST is InterpolationMode("nearest")
