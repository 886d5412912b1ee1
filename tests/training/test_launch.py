"""The options of the launch scripts do what they say on the CPU, or say why they cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.conftest import DATA, PORTED, curve

pytestmark = pytest.mark.frameworks

SCRIPT = PORTED / "scripts" / "run_standalone_train.sh"
SMALL = [*DATA, "--epochs", "2", "--samples", "80", "--lr", "0.6", "--warmup-epochs", "0"]


def launch(folder: Path, *options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", SCRIPT, "--device_target", "CPU", *map(str, options)],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=900,
        check=False,
    )


def test_all_at_once(tmp_path: Path) -> None:
    options = ["--mode", "graph", "--jit_level", "O1", "--amp_level", "O2", "--loss_scale", "512"]
    script = [*SMALL, "--amp", "--output", tmp_path / "out", "--log", tmp_path / "log"]
    done = launch(tmp_path, *options, "--profile", tmp_path / "profile", "--", *script)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    losses = [record["loss"] for record in curve(tmp_path / "log")]
    assert len(losses) == 20
    assert sum(losses[-5:]) < sum(losses[:5]) - 0.5
    assert (tmp_path / "out" / "last.pt").exists()
    traces = list((tmp_path / "profile").rglob("trace_view.json"))
    assert traces and traces[0].stat().st_size > 1000


def test_dataset_sink_says_what_it_needs(tmp_path: Path) -> None:
    done = launch(tmp_path, "--dataset_sink", "--", *SMALL)
    assert done.returncode != 0
    assert "--dataset_sink: Data sinking supports ascend or gpu device target" in done.stderr
    assert "epoch" not in done.stdout
