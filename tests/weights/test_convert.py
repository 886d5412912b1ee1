"""There and back is bit exact; what cannot be known is asked for; malice is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.cli import main
from migrate.weights import blobs

pytestmark = pytest.mark.frameworks


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


def test_safetensors_carry_even_the_counters(checkpoints: Path, tmp_path: Path) -> None:
    middle, back = tmp_path / "m.safetensors", tmp_path / "back.safetensors"
    assert main(["weights", str(checkpoints / "plain.pth"), str(middle), "--quiet"]) == 0
    assert set(blobs.read(middle)[0]) >= {"bn.gamma", "bn.moving_variance", "norm.beta", "fc.bias"}
    assert main(["weights", str(middle), str(back), "--quiet"]) == 0
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
