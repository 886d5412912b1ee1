"""The five training programs of tests/training/flagship, and how each is started and compared.

A run of torch's writes a checkpoint each epoch. That of the first is converted whole, the ported
program goes on from it, and its log must be torch's from there on: losses and learning rates of
every step, evaluations of every epoch.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.torch_group import LIMIT, free_port
from tests.training.conftest import CHECKOUT

PROGRAMS = Path(__file__).parent / "flagship"
LAUNCH = Path(__file__).parent / "flagship_launch.py"
TORCH_GROUP = CHECKOUT / "tests" / "torch_group.py"
EPOCHS = 3
PATIENCE = 2 * LIMIT  # compiling for two processes on a busy machine takes minutes
CLASSES = 4
# torch's wheels for the CPU lack what torchvision registers against: see migrate.vision_shim.
# The files that stand for CIFAR-10 have other checksums.
SITE = """\
from migrate.vision_shim import ensure_torchvision

ensure_torchvision()
from torchvision.datasets import cifar

cifar.check_integrity = lambda *paths, **options: True
"""
Options = list[str]


@dataclass(frozen=True)
class Program:
    """How a program is told what to do."""

    name: str
    script: str
    common: Options
    epochs: Callable[[int], Options]
    out: Callable[[Path], Options]
    resume: Callable[[Path], Options]
    checkpoint: Callable[[int], str]  # the name of that after so many epochs
    amp: Options
    evaluate: Options = field(default_factory=lambda: ["--evaluate"])
    two: Options = field(default_factory=list)
    port: Options = field(default_factory=list)
    spawns: bool = False  # starts its processes itself
    graph: bool = True  # False: gradients are recorded, which PyNative mode alone does
    findings: int = 0

    @property
    def source(self) -> Path:
        return PROGRAMS / self.name


def _out(path: Path) -> Options:
    return ["--out", str(path)]


def _resume(path: Path) -> Options:
    return ["--resume", str(path)]


def _words(*lines: str) -> Options:
    return " ".join(lines).split()


def _epochs(count: int) -> Options:
    return ["--epochs", str(count)]


IMAGENET = Program(
    "imagenet",
    "main.py",
    # Small steps: over 16 images of one pixel, BatchNorm turns float16's noise into percents.
    f"data --size 16 --classes {CLASSES} -b 16 --lr 0.001 --keep-order --dist-backend gloo".split(),
    _epochs,
    _out,
    _resume,
    "checkpoint_{:04d}.pth.tar".format,
    ["--amp"],
    evaluate=["-e"],
    two=["--multiprocessing-distributed", "--world-size", "1", "--rank", "0", "--nproc", "2"],
    port=["--with-torchvision"],
    spawns=True,
    findings=1,  # densenet's checkpointing, which nobody uses here
)
REFERENCE = Program(
    "reference",
    "train.py",
    _words(
        "--data-path data --device cpu -b 8 --no-shuffle --lr 0.05 --label-smoothing 0.1",
        "--train-crop-size 16 --val-crop-size 16 --val-resize-size 18 --norm-weight-decay 0",
        "--model-ema --model-ema-steps 1 --model-ema-decay 0.99 --clip-grad-norm 1",
        "--lr-scheduler cosineannealinglr --lr-warmup-epochs 1 --lr-warmup-method linear",
        "--lr-warmup-decay 0.1",
    ),
    _epochs,
    lambda path: ["--output-dir", str(path)],
    _resume,
    lambda epoch: f"model_{epoch - 1}.pth",
    ["--amp"],
    evaluate=["--test-only"],
)
EXECUTOR = Program(
    "executor",
    "train.py",
    ["--data", "data", "--keep-order", "--clip", "1.0", "--accumulate", "2", "--batch-size", "4"],
    _epochs,
    _out,
    _resume,
    "epoch_{}.pt".format,
    ["--fp16"],
    evaluate=[],  # prints its result, and logs none
    graph=False,
    findings=2,  # backward in one class, step in another
)
CIFAR = Program(
    "cifar",
    "main.py",
    ["--data", "cifar", "--no-augment", "--lr", "0.02"],
    _epochs,
    _out,
    _resume,
    lambda epoch: f"epoch{epoch - 1}.pth",
    ["--amp"],
)
REGISTRY = Program(
    "registry",
    "tools/train.py",
    ["{source}/configs/small.json", "data.train.root=data/train", "data.val.root=data/val"],
    lambda count: [f"total_epochs={count}"],
    lambda path: ["--work-dir", str(path)],
    lambda path: ["--resume-from", str(path)],
    "epoch_{}.pth".format,
    ["fp16={'loss_scale': 256.0}"],
    evaluate=[],
    two=["--launcher", "pytorch"],
)
ALL = {p.name: p for p in (IMAGENET, REFERENCE, EXECUTOR, CIFAR, REGISTRY)}


def write_data(folder: Path) -> None:
    """Images that a flip or a crop to the whole leaves as they are: rows of one colour."""
    rng = np.random.default_rng(3)
    rows = rng.integers(30, 226, (CLASSES, 20, 1, 3))
    for part, counts in (("train", (8, 8, 8, 8)), ("val", (5, 5, 5, 6))):
        for label, count in enumerate(counts):
            place = folder / "data" / part / f"class{label}"
            place.mkdir(parents=True)
            for number in range(count):
                noisy = np.clip(rows[label] + rng.normal(0, 60, (20, 1, 3)), 0, 255)
                image = np.broadcast_to(noisy, (20, 20, 3)).astype(np.uint8)
                Image.fromarray(image).save(place / f"{number}.png")
    place = folder / "cifar" / "cifar-10-batches-py"
    place.mkdir(parents=True)
    patterns = rng.integers(30, 226, (10, 3072))
    for name in (*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"):
        labels = rng.integers(0, 10, 16 if name != "test_batch" else 30)
        noise = rng.normal(0, 40, (len(labels), 3072))
        pixels = np.clip(patterns[labels] + noise, 0, 255).astype(np.uint8)
        (place / name).write_bytes(pickle.dumps({"data": pixels, "labels": labels.tolist()}))
    (place / "batches.meta").write_bytes(pickle.dumps({"label_names": list("abcdefghij")}))
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(SITE)


def run(command: list[object], cwd: Path, path: list[Path], logs: Path | None = None) -> str:
    """What a command printed; its errors become the caller's."""
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "GLOO_SOCKET_IFNAME": "lo",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(map(str, path)),
    }
    started = subprocess.Popen(
        list(map(str, command)),
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        stdout, stderr = started.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)  # a launcher leaves its workers behind
        stdout, stderr = started.communicate()
        stderr += f"\nno answer in {PATIENCE} s"
    worker_logs = sorted(logs.glob("*.log")) if logs else []
    said = [path.read_text(errors="replace")[-3000:] for path in worker_logs]
    assert started.returncode == 0, "\n".join([stdout[-2000:], stderr[-4000:], *said])
    return stdout


def command(
    program: Program, out: Path, epochs: int, start: Path | None, amp: bool, more: Options
) -> list[str]:
    """The program's own command line, behind its script."""
    common = [option.format(source=program.source) for option in program.common]
    given = [*common, *program.epochs(epochs), *(program.amp if amp else [])]
    if program is IMAGENET:
        given += ["--dist-url", f"tcp://127.0.0.1:{free_port()}"]
    return [*given, *program.out(out), *(program.resume(start) if start else []), *more]


def run_torch(program: Program, folder: Path, out: Path, amp: bool, two: bool) -> None:
    """Train for all epochs with torch."""
    out.mkdir(parents=True)
    given = command(program, out, EPOCHS, None, amp, program.two if two else [])
    head: list[object] = [sys.executable]
    script: list[object] = [program.source / program.script]
    if two and not program.spawns:
        head += ["-m", "torch.distributed.run", "--nproc_per_node=2", "--master_addr=127.0.0.1"]
        head += [f"--master_port={free_port()}", "--"]
        script.insert(0, TORCH_GROUP)
    run([*head, *script, *given], folder, [folder / "site", CHECKOUT])


def run_ported(
    program: Program,
    folder: Path,
    out: Path,
    start: Path,
    mode: str,
    amp: bool = False,
    two: bool = False,
    epochs: int = EPOCHS,
    evaluate: bool = False,
) -> None:
    """Go on from a checkpoint with the ported program."""
    out.mkdir(parents=True)
    more = [*(program.two if two else []), *(program.evaluate if evaluate else [])]
    given = command(program, out, epochs, start, amp, more)
    script = folder / f"ported_{program.name}" / program.script
    head: list[object] = [sys.executable]
    logs = out / "logs"
    if two:
        head = ["msrun", "--worker_num=2", "--local_worker_num=2", "--join=True"]
        head += [f"--master_port={free_port()}", f"--log_dir={logs}"]
    run([*head, LAUNCH, mode, script, *given], folder, [], logs if two else None)


def migrate(folder: Path, *arguments: object, codes: tuple[int, ...] = (0,)) -> str:
    """`ms-migrate ...`"""
    done = subprocess.run(
        [sys.executable, "-m", "migrate", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in codes, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


def port(program: Program, folder: Path) -> str:
    """Port; the number of findings is what was expected."""
    target = folder / f"ported_{program.name}"
    said = migrate(folder, "port", program.source, "-o", target, *program.port, codes=(0, 1))
    findings = [line for line in said.splitlines() if ": MS" in line]
    assert len(findings) == program.findings, said
    return said.splitlines()[-1]


def log(out: Path) -> list[dict[str, Any]]:
    """The records of a run."""
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def apart(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> dict[str, float]:
    """The largest relative difference of each quantity; accuracies in images."""
    first = ours[0]["epoch"]
    theirs = [record for record in theirs if record["epoch"] >= first]
    assert [sorted(r) for r in ours] == [sorted(r) for r in theirs], "other records"
    worst: dict[str, float] = {}
    for own, reference in zip(ours, theirs, strict=True):
        for name, value in reference.items():
            if isinstance(value, str):
                assert own[name] == value
                continue
            difference = abs(own[name] - value)
            if name == "acc1":
                difference *= reference["count"] / 100
            else:
                difference /= abs(value) + 1e-8
            worst[name] = max(worst.get(name, 0.0), difference)
    return worst
