"""Two processes under msrun train as two processes under torch's DistributedDataParallel do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.torch_group import LIMIT, free_port, run_two
from tests.training.conftest import DATA, PORTED, REFERENCE, curve

pytestmark = pytest.mark.frameworks

# 42 samples are 21 for each rank, of which two batches of 8 are used; evaluation uses all.
RECIPE = ["--epochs", "1", "--samples", "42", "--lr", "0.6", "--warmup-epochs", "0"]


def evaluated(output: str) -> list[float]:
    """Loss, top-1 and top-5 of the whole group at the end of the epoch."""
    (found,) = re.findall(r"val loss (\S+)  top-1 (\S+)%  top-5 (\S+)%", output)
    return [float(number) for number in found]


def test_two_processes_agree_with_torch(start: Path) -> None:
    options = [*DATA, *RECIPE, "--log"]
    torch_log, log = start / "ddp.jsonl", start / "msrun.jsonl"
    reference = [*options, torch_log, "--output", start / "ddp", "--weights", start / "start.pt"]
    torch_said = run_two("train.py", "--distributed", *reference, cwd=REFERENCE)
    ported = [*options, log, "--output", start / "msrun", "--weights", start / "start.ckpt"]
    script = PORTED / "scripts" / "run_distribute_train.sh"
    done = subprocess.run(
        ["bash", script, "2", "--device_target", "CPU", "--", *map(str, ported)],
        cwd=start,
        env={
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            # msrun starts the python it finds on PATH.
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "MASTER_PORT": str(free_port()),
            "LOG_DIR": str(start / "msrun_log"),
            "TIME_LIMIT": str(LIMIT),
        },
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT + 30,
        check=False,
    )
    worker = start / "msrun_log" / "worker_0.log"
    said = worker.read_text(errors="replace") if worker.exists() else done.stdout + done.stderr
    assert done.returncode == 0, said[-4000:]
    ours, theirs = curve(log), curve(torch_log)
    assert len(ours) == len(theirs) == 2
    # The second step's loss depends on the first one's averaged gradients.
    for found, expected in zip(ours, theirs, strict=True):
        assert found["loss"] == pytest.approx(expected["loss"], rel=2e-5)
        assert found["lr"] == pytest.approx(expected["lr"], rel=1e-6)
    # Both evaluated every sample of both shards once, and joined what they saw.
    assert evaluated(said) == pytest.approx(evaluated(torch_said), rel=1e-3)
