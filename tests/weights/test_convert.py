"""There and back is bit exact; what cannot be known is asked for; malice is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.weights import blobs

pytestmark = pytest.mark.frameworks

EVERY = """
import torch
from torch import nn


class Every(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(2, 3, 5)
        self.conv3 = nn.Conv3d(2, 3, 2)
        self.t1 = nn.ConvTranspose1d(2, 3, 4)
        self.b3 = nn.BatchNorm3d(3)
        self.bn0 = nn.BatchNorm2d(3, affine=False)
        self.ln0 = nn.LayerNorm(4, bias=False)
        self.gn = nn.GroupNorm(2, 4)
        self.i2 = nn.InstanceNorm2d(3, affine=True, track_running_stats=True)
        self.emb = nn.Embedding(9, 4, padding_idx=0)
        self.prelu = nn.PReLU(3)
        self.fc = nn.Linear(4, 9, bias=False)
        self.fc.weight = self.emb.weight
        self.lstm = nn.LSTM(4, 5, num_layers=2, bidirectional=True)
        self.cell = nn.GRUCell(4, 5)
        self.encoder = nn.TransformerEncoderLayer(4, 2, 8)
        self.each = nn.ParameterList([nn.Parameter(torch.ones(2, 2)) for _ in range(2)])
        self.parts = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.PReLU()})

    def forward(self, x):
        return self.fc(x)
"""


def state(path: Path, folder: Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """A checkpoint's tensors as bytes, whatever wrote it."""
    if path.suffix != ".safetensors":
        as_torch = folder / f"{path.stem}-as-bytes.safetensors"
        _export(path, as_torch)
        path = as_torch
    found, _ = blobs.read(path)
    return {name: (blob.dtype, blob.shape, blob.data) for name, blob in found.items()}


def _export(source: Path, target: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys, torch\nfrom safetensors.torch import save_file\n"
        "state = torch.load(sys.argv[1], weights_only=True)\n"
        "save_file({k: v.clone().contiguous() for k, v in state.items()}, sys.argv[2])\n"
    )
    subprocess.run([sys.executable, "-c", code, source, target], check=True, timeout=300)


def test_a_nested_checkpoint_round_trips_through_ckpt_bit_for_bit(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["weights", str(checkpoints / "nested.pth"), str(tmp_path / "a.ckpt")]) == 0
    said = capsys.readouterr().err
    assert "'state_dict'" in said and "optimizer" in said and "'module.'" in said
    assert main(["weights", str(tmp_path / "a.ckpt"), str(tmp_path / "back.pth")]) == 0
    before = state(checkpoints / "plain.pth", tmp_path)
    after = state(tmp_path / "back.pth", tmp_path)
    counter = "bn.num_batches_tracked"
    assert before.pop(counter) != after.pop(counter), "MindSpore has no counter: it starts again"
    assert before == after


def test_a_training_checkpoint_under_torchs_ending_needs_its_framework_named(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, ported = str(checkpoints / "nested.pth"), tmp_path / "ported.pth.tar"
    assert main(["weights", source, str(ported), "--whole"]) == 2
    assert "--to mindspore" in capsys.readouterr().err and not ported.exists()
    assert main(["weights", source, str(ported), "--whole", "--to", "mindspore"]) == 0
    assert "for mindspore, from torch" in capsys.readouterr().out
    assert main(["weights", str(ported), str(tmp_path / "back.pth"), "--whole"]) == 0
    assert "for torch, from mindspore" in capsys.readouterr().out


def test_safetensors_carry_even_the_counters(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    middle, back = tmp_path / "m.safetensors", tmp_path / "back.safetensors"
    assert main(["weights", str(checkpoints / "plain.pth"), str(middle), "--quiet"]) == 0
    assert set(blobs.read(middle)[0]) >= {"bn.gamma", "bn.moving_variance", "norm.beta", "fc.bias"}
    assert main(["weights", str(middle), str(back), "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["schema"], said["exit_code"], said["error"]) == ("ms-migrate/weights", 0, None)
    assert (said["from"], said["to"], said["destination"]) == ("mindspore", "torch", str(back))
    assert said["tensors"] == len(blobs.read(back)[0])
    assert state(back, tmp_path) == state(checkpoints / "plain.pth", tmp_path)


def test_what_shapes_do_not_decide_is_asked_for_and_the_model_decides_it(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, middle = str(checkpoints / "full.pth"), tmp_path / "full.safetensors"
    assert main(["weights", source, str(middle)]) == 2
    said = capsys.readouterr().err
    assert "emb.weight" in said and "act.weight" in said and "line.weight" in said
    assert "--model" in said and not middle.exists()
    model = f"{checkpoints / 'weights_model.py'}:Model"
    assert main(["weights", source, str(middle), "--model", model]) == 0
    named = {name: blob.shape for name, blob in blobs.read(middle)[0].items()}
    assert named["emb.embedding_table"] == (7, 8) and named["head.weight"] == (7, 8)
    assert named["act.w"] == (4,) and named["line.weight"] == (4, 3, 1, 5)
    assert named["bn3.bn2d.gamma"] == (2,) and named["table"] == (6,)
    back = tmp_path / "back.safetensors"
    assert main(["weights", str(middle), str(back), "--model", model, "--quiet"]) == 0
    assert state(back, tmp_path) == state(checkpoints / "full.pth", tmp_path)


def test_a_ported_model_loads_its_converted_checkpoint(tmp_path: Path) -> None:
    """Every layer with tensors of its own, under the names that the porter's code gives them."""
    import subprocess
    import sys

    (tmp_path / "every.py").write_text(EVERY)
    save = "import torch, every; torch.save(every.Every().state_dict(), 'every.pth')"
    subprocess.run([sys.executable, "-c", save], cwd=tmp_path, check=True, timeout=300)
    assert main(["port", str(tmp_path / "every.py"), "-o", str(tmp_path / "out"), "--quiet"]) == 0
    model = f"{tmp_path / 'every.py'}:Every"
    words = [str(tmp_path / "every.pth"), str(tmp_path / "every.ckpt"), "--model", model]
    assert main(["weights", *words, "--quiet"]) == 0
    load = (
        "import os, sys, mindspore, every\n"
        "state = mindspore.load_checkpoint('../every.ckpt')\n"
        "left, unused = mindspore.load_param_into_net(every.Every(), state)\n"
        "print('LEFT', *left); print('UNUSED', *unused); sys.stdout.flush(); os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", load],
        cwd=tmp_path / "out",
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line}
    # MindSpore's norms always have both; torch's without them leave MindSpore's at one and zero.
    assert lines["LEFT"] == ["bn0.gamma", "bn0.beta", "ln0.beta"]
    assert lines["UNUSED"] == ["fc.weight"], "tied: MindSpore holds it under its first name"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("{'a.weight': torch.eye(3).to_sparse()}", "sparse tensors (a.weight)"),
        ("{'a.weight': torch.ones(2, dtype=torch.complex64)}", "complex64 tensors (a.weight)"),
        ("{'model': {'a.weight': torch.ones(2, 2), 'a.bias': torch.ones(2)}, 'best': "
         "np.float64(1), 'args': argparse.Namespace(lr=0.1, out=pathlib.Path('x'))}", ""),
    ],
)  # fmt: skip
def test_plain_values_beside_the_model_are_read_and_odd_tensors_refused(
    code: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import subprocess
    import sys

    save = f"import argparse, pathlib, torch, numpy as np; torch.save({code}, 'x.pth')"
    subprocess.run([sys.executable, "-c", save], cwd=tmp_path, check=True, timeout=300)
    words = ["weights", str(tmp_path / "x.pth"), str(tmp_path / "x.safetensors")]
    assert main(words) == (2 if said else 0)
    shown = capsys.readouterr().err
    assert said in shown if said else "best, args" in shown


def test_a_checkpoint_that_runs_code_is_refused(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["weights", str(checkpoints / "evil.pth"), str(tmp_path / "x.ckpt")]) == 2
    assert "would run code" in capsys.readouterr().err
    assert not (checkpoints / "PWNED").exists() and not Path("PWNED").exists()
    assert not (tmp_path / "x.ckpt").exists()


def test_a_truncated_checkpoint_is_refused(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["weights", str(checkpoints / "cut.pth"), str(tmp_path / "x.safetensors")]) == 2
    assert "not a whole torch checkpoint" in capsys.readouterr().err
    (tmp_path / "cut.ckpt").write_bytes(b"\x0a\x40nonsense")
    assert main(["weights", str(tmp_path / "cut.ckpt"), str(tmp_path / "y.pth")]) == 2
    assert "not a whole MindSpore checkpoint" in capsys.readouterr().err
    (tmp_path / "page.pth").write_text("<html>not found</html>")  # what a failed download leaves
    assert main(["weights", str(tmp_path / "page.pth"), str(tmp_path / "z.ckpt")]) == 2
    assert "not a whole torch checkpoint" in capsys.readouterr().err
