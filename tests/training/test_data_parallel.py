"""Two processes under msrun train as two under torchrun (gloo), whatever the program looks like."""

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

PROGRAMS = Path(__file__).parent / "data_parallel"
DRIVER = Path(__file__).parent / "run_programs.py"
# torch synchronises batch norms on GPUs alone: what it computes there is one process with it all.
ALONE = "sync_norm"
SHAPES = sorted(
    {p.stem for p in PROGRAMS.glob("*.py")} | {p.parent.name for p in PROGRAMS.glob("*/train.py")}
)
# float16 inside of autocast, on both sides.
MIXED = "plugins"
RANKS = range(2)

Answers = dict[str, list[dict[str, np.ndarray]]]


def under_msrun(folder: Path, *command: object) -> None:
    """Run a program as two processes; the log of the first says why it failed."""
    launcher = [Path(sys.executable).parent / "msrun", "--worker_num=2", "--local_worker_num=2"]
    launcher += [f"--master_port={free_port()}", f"--log_dir={folder / 'logs'}", "--join=True"]
    done = subprocess.run(
        list(map(str, [*launcher, *command])),
        cwd=folder,
        env={
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "ONEDNN_MAX_CPU_ISA": "AVX2",
            # msrun starts the python it finds on PATH.
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT,
        check=False,
    )
    logs = [folder / "logs" / f"worker_{rank}.log" for rank in RANKS]
    said = [log.read_text(errors="replace")[-3000:] for log in logs if log.exists()]
    assert done.returncode == 0, "\n".join(said) or done.stderr[-3000:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every program ported, and run in two processes on both sides, in both modes."""
    folder = tmp_path_factory.mktemp("two")
    ported = folder / "ported"
    done = subprocess.run(
        [sys.executable, "-m", "migrate", "port", PROGRAMS, "-o", ported],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    # The programs whose gradients are recorded have findings that say so, and no other has one.
    findings = [line for line in done.stdout.splitlines() if ": MS" in line]
    files = {Path(line.partition(":")[0]).name for line in findings}
    assert files == {"native_scaler.py", "fabric.py"}, done
    assert all("gradients are recorded" in line for line in findings), done
    names = [name for name in SHAPES if name != ALONE]
    run_two(DRIVER, PROGRAMS, folder / "torch", "torch", *names, cwd=folder)
    (folder / "torch" / ALONE).mkdir()
    run_program(PROGRAMS / f"{ALONE}.py", folder / "torch" / ALONE, 1, cwd=folder)
    for mode in ("pynative", "graph"):
        under_msrun(folder, DRIVER, ported, folder / mode, mode, *SHAPES)
    return folder


def answers(folder: Path, name: str) -> list[dict[str, np.ndarray]]:
    return [dict(np.load(folder / name / f"rank{rank}.npz")) for rank in RANKS]


@pytest.mark.parametrize("mode", ["pynative", "graph"])
@pytest.mark.parametrize("shape", [name for name in SHAPES if name != ALONE])
def test_both_ranks_train_as_torchs(folder: Path, shape: str, mode: str) -> None:
    ours, theirs = answers(folder / mode, shape), answers(folder / "torch", shape)
    weights = [name for name in theirs[0] if name.startswith("arr_")]
    assert weights
    for name in weights:
        np.testing.assert_array_equal(ours[0][name], ours[1][name], err_msg=f"ranks, {name}")
    for rank in RANKS:
        for name in (n for n in theirs[rank] if n not in ("first", "second")):
            # 5e-5: an AdamW step divides rounding errors by small second moments.
            bound = 5e-3 if shape == MIXED else 5e-5
            np.testing.assert_allclose(
                ours[rank][name], theirs[rank][name], rtol=bound, atol=bound, err_msg=name
            )
    # Ranks see other data: equal weights are no accident of equal inputs. Losses may be averaged
    # over the ranks; the statistics of batch norms are not.
    own = "running" if "running" in theirs[0] else "losses"
    assert not np.array_equal(theirs[0][own], theirs[1][own]) or shape in (
        "collectives",
        "engine_file",
    )


@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_synchronised_batch_norms_see_the_whole_batch(folder: Path, mode: str) -> None:
    ours, theirs = answers(folder / mode, ALONE), np.load(folder / "torch" / ALONE / "rank0.npz")
    for rank in RANKS:
        for name in theirs:
            np.testing.assert_allclose(ours[rank][name], theirs[name], rtol=5e-5, atol=5e-5)


@pytest.mark.parametrize("kind", ["torch", "pynative"])
def test_shards_cover_every_sample_once(folder: Path, kind: str) -> None:
    ranks = answers(folder / kind, "sharded")
    for epoch in ("first", "second"):
        shards = [ranks[rank][epoch].tolist() for rank in RANKS]
        assert Counter(shards[0] + shards[1]) == Counter(range(24))
        assert shards[0] != sorted(shards[0])  # shuffled
    assert ranks[0]["first"].tolist() != ranks[0]["second"].tolist()


def test_one_process_saves_and_every_image_is_counted_once(folder: Path) -> None:
    for shape, saved in (("spawned", "checkpoint.pth.tar"), ("engine_file", "last.pth")):
        assert (folder / "pynative" / shape / saved).exists()
    # Nine images: shards of four, and one that is left over.
    assert answers(folder / "pynative", "spawned")[0]["losses"][:, 2].tolist() == [9.0, 9.0]
