"""Two processes: the gradients that they average are torch's, and their shards cover the data."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.torch_group import LIMIT, free_port, run_two
from tests.training.conftest import CHECKOUT, run_program

pytestmark = pytest.mark.frameworks

SCRIPT = Path(__file__).parent / "distributed" / "ddp.py"
RANKS = range(2)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, np.ndarray]]]:
    """What each rank saved, under torchrun (gloo) and, ported, under msrun."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "torch").mkdir()
    run_two(SCRIPT, folder / "torch", cwd=folder)
    ported = folder / "mindspore"
    run_program("-m", "migrate", "port", SCRIPT, "-o", ported, cwd=CHECKOUT)
    command = [
        *(Path(sys.executable).parent / "msrun", "--worker_num=2", "--local_worker_num=2"),
        *(f"--master_port={free_port()}", f"--log_dir={folder / 'logs'}", "--join=True"),
        *(ported / "ddp.py", ported),
    ]
    done = subprocess.run(
        command,
        cwd=folder,
        env={
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT,
        check=False,
    )
    log = folder / "logs" / "worker_0.log"
    assert done.returncode == 0, log.read_text(errors="replace")[-3000:] if log.exists() else done
    return {
        kind: [dict(np.load(folder / kind / f"rank{rank}.npz")) for rank in RANKS]
        for kind in ("torch", "mindspore")
    }


def test_averaged_gradients_are_torchs(answers: dict[str, list[dict[str, np.ndarray]]]) -> None:
    names = [name for name in answers["torch"][0] if name.startswith("arr_")]
    assert len(names) == 4
    for rank in RANKS:
        for name in names:
            ours, theirs = answers["mindspore"][rank][name], answers["torch"][rank][name]
            np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)
            # Both ranks moved alike, and by something.
            np.testing.assert_array_equal(ours, answers["mindspore"][0][name])
            assert np.abs(theirs).max() > 1e-3
    # Not because they saw the same samples: their own losses differ, the joined mean is one.
    losses = [answers["mindspore"][rank]["loss"] for rank in RANKS]
    assert abs(losses[0] - losses[1]) > 1e-3
    for rank in RANKS:
        assert answers["mindspore"][rank]["mean"] == pytest.approx(np.mean(losses), rel=1e-6)
        theirs = answers["torch"][rank]["loss"]
        assert losses[rank] == pytest.approx(float(theirs), rel=2e-5)


@pytest.mark.parametrize("kind", ["torch", "mindspore"])
def test_shards_cover_every_sample_once(
    answers: dict[str, list[dict[str, np.ndarray]]], kind: str
) -> None:
    for epoch in ("first", "second"):
        shards = [answers[kind][rank][epoch].tolist() for rank in RANKS]
        assert Counter(shards[0] + shards[1]) == Counter(range(24))
        assert shards[0] != sorted(shards[0])  # shuffled
    assert answers[kind][0]["first"].tolist() != answers[kind][0]["second"].tolist()
