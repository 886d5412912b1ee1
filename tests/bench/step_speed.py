"""A training step of the ported ResNet-50 beside a hand-written one (mindcv's), Graph mode, both in
one process; writes docs/results/bench_step.md.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from migrate.table.cache import directory
from tests.bench.step_pair import BATCH, SIZE

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
RESULTS = CHECKOUT / "docs" / "results" / "bench_step.md"
ROUNDS = 12
MINDCV = "mindcv==0.3.0"


def installed_mindcv() -> Path:
    """The package's source alone, apart from this environment."""
    home = directory() / "bench" / "mindcv"
    if not (home / "mindcv").is_dir():
        print("bench: fetching mindcv (once)", file=sys.stderr)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
        subprocess.run([*pip, str(home), MINDCV, "tqdm", "pyyaml"], check=True)
    return home


def main() -> None:
    load = os.getloadavg()[0]
    paths = os.pathsep.join([str(installed_mindcv()), str(CHECKOUT)])
    done = subprocess.run(
        [sys.executable, str(HERE / "step_pair.py"), str(ROUNDS)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, "GLOG_v": "3", "OMP_NUM_THREADS": "1"},
    )
    if done.returncode:
        sys.exit(f"bench: the steps ended with {done.returncode}\n{done.stderr}{done.stdout}")
    found = json.loads(done.stdout.splitlines()[-1])
    RESULTS.write_text(render(found, load), encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def render(found: dict[str, dict[str, float]], load: float) -> str:
    ratio = found["port"]["median"] / found["mindcv"]["median"]
    lines = [
        "# A training step of the ported ResNet-50",
        "",
        f"ResNet-50, {BATCH}x3x{SIZE}x{SIZE}, float32, SGD with momentum, Graph mode, CPU; the "
        f"port and the hand-written model of {MINDCV} in one process, step by step in turn, "
        f"{ROUNDS} steps each after the first two.",
        "",
        "- command: `python -m tests.bench step`",
        f"- date: {datetime.date.today()}, load {load:.1f} at the start",
        f"- Python {platform.python_version()}, mindspore 2.10.0, {os.cpu_count()} cores",
        "",
        "| model | first step (compilation) s | median step s | best step s |",
        "|---|--:|--:|--:|",
    ]
    lines += [
        f"| {name} | {row['first']:.1f} | {row['median']:.3f} | {row['best']:.3f} |"
        for name, row in found.items()
    ]
    best = found["port"]["best"] / found["mindcv"]["best"]
    lines += [
        "",
        f"**The port's step takes {ratio:.2f} times mindcv's** (best steps: {best:.2f}; the goal "
        "is at most 1.0).",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
