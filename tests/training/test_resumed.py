"""A ported program goes on from torch's training checkpoint, and torch gets its weights back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.training.conftest import CHECKOUT, run_program

pytestmark = pytest.mark.frameworks

PROGRAM = Path(__file__).parent / "precision" / "resumed.py"
SAME = """
import sys, torch
back, whole, full = (torch.load(path, weights_only=True) for path in sys.argv[1:])
assert list(whole) == list(full) and whole["epoch"] == 6, list(whole)
for name, tensor in full["model"].items():
    if name.endswith("num_batches_tracked"):
        continue
    assert (back[name] - tensor).abs().max() < 1e-5, name
    if name in whole["model"]:
        assert torch.equal(whole["model"][name], back[name]), name
assert set(back) == set(full["model"])
"""


def test_both_ways(tmp_path: Path) -> None:
    run_program(PROGRAM, tmp_path, 0, 3, "-", "half.pth.tar", cwd=tmp_path)
    run_program(PROGRAM, tmp_path, 0, 6, "-", "full.pt", cwd=tmp_path)
    run_program("-m", "migrate", "port", PROGRAM, "-o", tmp_path / "ported", cwd=CHECKOUT)
    weights = ["-m", "migrate", "weights"]
    half = [tmp_path / "half.pth.tar", tmp_path / "half.ckpt", "--whole"]
    run_program(*weights, *half, cwd=CHECKOUT)
    ported = tmp_path / "ported" / PROGRAM.name
    run_program(ported, tmp_path, 0, 6, "half.ckpt", "done.pt", cwd=tmp_path)
    ours, theirs = (np.load(tmp_path / f"{n}.npz")["losses"] for n in ("done.pt", "full.pt"))
    np.testing.assert_allclose(ours, theirs[3:], rtol=2e-6)
    done = tmp_path / "done.pt"
    run_program(*weights, done, tmp_path / "back.pth", cwd=CHECKOUT)
    run_program(*weights, done, tmp_path / "whole.pth", "--whole", cwd=CHECKOUT)
    files = [tmp_path / name for name in ("back.pth", "whole.pth", "full.pt")]
    run_program("-c", SAME, *files, cwd=tmp_path)
    # And torch goes on from what the ported program has saved.
    run_program(ported, tmp_path, 0, 3, "-", "first.pt", cwd=tmp_path)
    first = [tmp_path / "first.pt", tmp_path / "first.pth.tar", "--whole"]
    run_program(*weights, *first, cwd=CHECKOUT)
    run_program(PROGRAM, tmp_path, 0, 6, "first.pth.tar", "again.pt", cwd=tmp_path)
    again = np.load(tmp_path / "again.pt.npz")["losses"]
    np.testing.assert_allclose(again, theirs[3:], rtol=2e-6)
