"""Images a second of torch's DataLoader and of its ports, on a folder of JPEGs that is made here;
writes docs/results/bench_data.md.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from migrate.cli import main as ms_migrate

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
RESULTS = CHECKOUT / "docs" / "results" / "bench_data.md"
PROGRAM = HERE / "data_program.py"
IMAGES, CLASSES, ROUNDS = 256, 4, 3
SIDES = ((500, 375), (375, 500), (640, 480), (400, 400))
WORKERS = (0, 1, 2)
KINDS = ("augmented", "plain")
# Port -> the options of `ms-migrate port`; none for torch itself.
PORTS: dict[str, list[str] | None] = {
    "torch": None,
    "exact": ["--data", "exact"],
    "native": ["--data", "native"],
    "native, --pixels close": ["--data", "native", "--pixels", "close"],
}


def write_images(folder: Path) -> None:
    draws = np.random.default_rng(0)
    for number in range(IMAGES):
        width, height = SIDES[number % len(SIDES)]
        small = draws.integers(0, 256, (height // 8, width // 8, 3), np.uint8)
        place = folder / str(number % CLASSES)
        place.mkdir(parents=True, exist_ok=True)
        image = Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)
        image.save(place / f"{number}.jpg", quality=90)


def measured(script: Path, images: Path, workers: int, kind: str) -> dict[str, float]:
    """The fastest of the epochs after the first, in a process of its own."""
    shim = (
        "import runpy, sys\n"
        "if sys.argv[1] == 'torch':\n"
        "    from migrate.vision_shim import ensure_torchvision\n"
        "    ensure_torchvision()\n"
        "sys.argv = sys.argv[2:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    side = "torch" if script == PROGRAM else "mindspore"
    given = [str(script), str(images), str(workers), kind, str(ROUNDS)]
    paths = os.pathsep.join([str(script.parent), str(CHECKOUT)])
    done = subprocess.run(
        [sys.executable, "-c", shim, side, *given],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": paths, "GLOG_v": "3", "OMP_NUM_THREADS": "1"},
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if not lines:
        sys.exit(f"bench: {script} ended with {done.returncode}\n{done.stderr[-2000:]}")
    rounds = json.loads(lines[-1].removeprefix("RESULT "))[1:]
    best: dict[str, float] = max(rounds, key=lambda one: one["rate"])
    return best


def main() -> None:
    load = os.getloadavg()[0]
    found: dict[tuple[str, str, int], dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as home:
        images = Path(home) / "images"
        write_images(images)
        scripts = {name: _ported(Path(home), name, given) for name, given in PORTS.items()}
        for kind in KINDS:
            for workers in WORKERS:
                for name, script in scripts.items():  # in turn: the machine's load changes slowly
                    found[kind, name, workers] = measured(script, images, workers, kind)
                    print(f"bench: {kind}, {workers} workers, {name}", file=sys.stderr)
    RESULTS.write_text(render(found, load), encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def _ported(home: Path, name: str, options: list[str] | None) -> Path:
    if options is None:
        return PROGRAM
    out = home / name.replace(", --", "_").replace(" ", "_")
    if ms_migrate(["port", str(PROGRAM), "-o", str(out), "-q", *options]):
        sys.exit(f"bench: {PROGRAM} does not port with {options}")
    return out / PROGRAM.name


def render(found: dict[tuple[str, str, int], dict[str, float]], load: float) -> str:
    lines = [
        "# Images a second",
        "",
        f"{IMAGES} JPEGs of {', '.join(f'{w}x{h}' for w, h in SIDES)}, batches of 32, one epoch; "
        f"the better of {ROUNDS - 1} epochs after the first, every program in a process of its "
        "own, in turn. Augmented: RandomResizedCrop(224), flip; plain: Resize(256), "
        "CenterCrop(224); both with ToTensor and Normalize. Seconds are processor seconds of the "
        "main process, its threads included.",
        "",
        "- command: `python -m tests.bench data`",
        f"- date: {datetime.date.today()}, load {load:.1f} at the start",
        f"- Python {platform.python_version()}, torch 2.13.0, mindspore 2.10.0, "
        f"{os.cpu_count()} cores",
        "",
        "| transform | workers | " + " | ".join(f"{name}: images/s (s)" for name in PORTS) + " |",
        "|---|--:|" + "--:|" * len(PORTS),
    ]
    for kind in KINDS:
        for workers in WORKERS:
            cells = [found[kind, name, workers] for name in PORTS]
            text = " | ".join(f"{one['rate']:.0f} ({one['seconds']:.2f})" for one in cells)
            lines.append(f"| {kind} | {workers} | {text} |")
    lines += ["", _ratios(found), ""]
    return "\n".join(lines)


def _ratios(found: dict[tuple[str, str, int], dict[str, float]]) -> str:
    said = []
    for name in list(PORTS)[1:]:
        ratios = sorted(
            found[kind, name, workers]["rate"] / found[kind, "torch", workers]["rate"]
            for kind in KINDS
            for workers in WORKERS
        )
        middle = (ratios[2] + ratios[3]) / 2
        said.append(f"{name} {middle:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
    return (
        f"**Times torch, median and range: {'; '.join(said)}.** The aims: exact at least 1, native "
        "at least 2. Operations with torchvision's pixels run on PIL in both; only `--pixels "
        "close` leaves it."
    )


if __name__ == "__main__":
    main()
