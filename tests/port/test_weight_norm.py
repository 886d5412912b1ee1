"""Weights that are computed at every call: the same numbers as torch, step after step."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.cli import main

NET = """
import torch
from torch import nn
from torch.nn.utils import spectral_norm, weight_norm
from torch.nn.utils.parametrizations import weight_norm as new_weight_norm


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre = weight_norm(nn.Conv1d(4, 8, 5, padding=2))
        self.pre.weight.data.normal_(0, 0.01)
        self.ups = nn.ModuleList([weight_norm(nn.ConvTranspose1d(8, 6, 4, 2, padding=1))])
        self.post = nn.utils.weight_norm(nn.Conv1d(6, 3, 3, dilation=2, bias=False), dim=None)
        self.main = nn.Sequential(
            spectral_norm(nn.Conv2d(1, 6, 3, 1, 1)),
            nn.LeakyReLU(0.1),
            spectral_norm(nn.ConvTranspose2d(6, 4, 4, 2, 1), n_power_iterations=2),
        )
        self.mix = weight_norm(nn.Conv2d(4, 4, 1), dim=1)
        self.head = spectral_norm(nn.Linear(4, 5, bias=False))

    def forward(self, x):
        x = torch.tanh(self.pre(x))
        for up in self.ups:
            x = up(x)
        x = self.mix(self.main(self.post(x).unsqueeze(1)))
        return self.head(x.mean((2, 3)))


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = new_weight_norm(nn.Linear(3, 4))
        nn.utils.remove_weight_norm(self.fc)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("norms")
    (folder / "net.py").write_text(NET)
    assert main(["port", str(folder / "net.py"), "-o", str(folder / "out"), "--quiet"]) == 0
    return folder / "net.py", folder / "out" / "net.py"


@pytest.mark.frameworks
def test_two_steps_agree_in_both_modes(program: tuple[Path, Path]) -> None:
    theirs, ours = program
    words = ["parity", f"{theirs}:Net", f"{ours}:Net", "--input", "2,4,8", "--classes", "5"]
    assert main([*words, "--steps", "2", "--quiet"]) == 0


@pytest.mark.frameworks
def test_the_plain_layer_comes_back_with_its_weight(program: tuple[Path, Path]) -> None:
    import subprocess
    import sys

    check = (
        "import net, numpy as np\n"
        "from mindspore import nn, Tensor\n"
        "import ms_migrate_helpers as helpers\n"
        "for made in (lambda: nn.Dense(3, 4), lambda: nn.Conv1d(3, 4, 3, pad_mode='pad')):\n"
        "    layer = made()\n"
        "    before, kind = layer.weight.asnumpy(), type(layer)\n"
        "    helpers.weight_norm(layer)\n"
        "    assert {p.name for p in layer.trainable_params()} >= {'weight_g', 'weight_v'}\n"
        "    helpers.remove_norm(layer)\n"
        "    assert type(layer) is kind and 'weight_g' not in layer.parameters_dict()\n"
        "    assert np.allclose(layer.weight.asnumpy(), before, atol=1e-6)\n"
        "net.Plain()\n"
        "try:\n"
        "    helpers.weight_norm(nn.LayerNorm((3,)))\n"
        "except NotImplementedError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", check],
        cwd=program[1].parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "weight_norm of a LayerNorm" in done.stdout, done.stderr[-800:]
