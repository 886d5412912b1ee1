"""The whole check of ResNet-50 beside the bare cost of the steps it needs, both in one run;
writes docs/results/bench_parity.md.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
RESULTS = CHECKOUT / "docs" / "results" / "bench_parity.md"
ROUNDS = 3
QUIET = 2.5  # a load above which wall time says more of the machine than of the program
SIDES = ("torch", "pynative", "graph")
SHAPE, CLASSES = "8,3,64,64", "1000"


class Cost(NamedTuple):
    """What a run cost: seconds by the clock, seconds of processor, MiB at the peak of each."""

    wall: float
    cpu: float
    peaks: tuple[float, ...]


def bare() -> Cost:
    """The three sides at once, as the check runs them, doing nothing but their steps."""
    begin, before = time.perf_counter(), os.times()
    commands = [[sys.executable, str(HERE / "parity_bare.py"), side] for side in SIDES]
    running = [subprocess.Popen(c, env=_environment(), stderr=subprocess.DEVNULL) for c in commands]
    peaks = [0.0] * len(running)
    while any(process.poll() is None for process in running):
        for index, process in enumerate(running):
            peaks[index] = max(peaks[index], _peak(process.pid))
        time.sleep(0.02)
    if any(process.returncode for process in running):
        sys.exit("bench: a bare run failed")
    return Cost(time.perf_counter() - begin, _spent(before), tuple(peaks))


def check() -> Cost:
    """The command as a user runs it."""
    begin, before = time.perf_counter(), os.times()
    with tempfile.TemporaryDirectory() as folder:
        words = [
            *("parity", f"{CHECKOUT}/reference_pt/resnet.py:resnet50"),
            *(f"{CHECKOUT}/ported_ms/resnet.py:resnet50", "--input", SHAPE),
            *("--classes", CLASSES, "--quiet", "--format", "json"),
            *("--report", f"{folder}/report.html"),
        ]
        code = f"import sys; from migrate.cli import main; sys.exit(main({words!r}))"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=_environment()
        )
    if done.returncode:
        sys.exit(f"bench: the check ended with {done.returncode}\n{done.stderr}{done.stdout}")
    peaks = [side["peak_bytes"] / 2**20 for side in json.loads(done.stdout)["workers"]]
    return Cost(time.perf_counter() - begin, _spent(before), tuple(peaks))


def _environment() -> dict[str, str]:
    """What the check gives its workers, for both."""
    threads = str(max(1, (os.cpu_count() or 1) // 2))
    own = {"OMP_NUM_THREADS": threads, "OMP_WAIT_POLICY": "PASSIVE", "GLOG_v": "3"}
    return {**own, **os.environ, "PYTHONPATH": str(CHECKOUT)}


def _spent(before: os.times_result) -> float:
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def _peak(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    found = [line.split()[1] for line in text.splitlines() if line.startswith("VmHWM:")]
    return int(found[0]) / 1024 if found else 0.0


def main(rounds: int = ROUNDS) -> None:
    """In turn, so that a slow minute of the machine hits both alike; the best of each counts."""
    load = os.getloadavg()[0]
    costs: dict[str, list[Cost]] = {"bare": [], "check": []}
    for number in range(rounds):
        for name, run in (("bare", bare), ("check", check)):
            cost = run()
            print(
                f"bench: parity, round {number + 1} of {rounds}, {name}: {cost.wall:.1f} s, "
                f"{cost.cpu:.1f} s of processor",
                file=sys.stderr,
                flush=True,
            )
            costs[name].append(cost)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(render(costs, load), encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def render(costs: dict[str, list[Cost]], load: float) -> str:
    best = {
        name: Cost(
            min(c.wall for c in found),
            min(c.cpu for c in found),
            tuple(max(peaks) for peaks in zip(*(c.peaks for c in found), strict=True)),
        )
        for name, found in costs.items()
    }
    one, whole = best["bare"], best["check"]
    judged = "wall" if load <= QUIET else "processor"
    ratio = whole.wall / one.wall if judged == "wall" else whole.cpu / one.cpu
    said = "" if judged == "wall" else ", so processor seconds are compared, not the clock's"
    lines = [
        "# What a parity check costs",
        "",
        f"Written by `make bench`: {platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, load {load:.1f} at the start{said}. ResNet-50, "
        f"{SHAPE.replace(',', 'x')}, both modes. Bare: three processes at once import their "
        "framework, build the model and take the steps that the check needs (torch one in float64 "
        "and six in float32, MindSpore one in PyNative and one compiled), and nothing more. Check: "
        "`ms-migrate parity`, with weights matched, every layer recorded, all compared, and the "
        f"HTML report. The best of {len(costs['bare'])} rounds, taken in turn.",
        "",
        "| | wall s | CPU s | peak MiB: torch | PyNative | Graph |",
        "|---|---|---|---|---|---|",
    ]
    for name, cost in (("bare", one), ("check", whole)):
        peaks = " | ".join(f"{peak:.0f}" for peak in cost.peaks)
        lines.append(f"| {name} | {cost.wall:.1f} | {cost.cpu:.1f} | {peaks} |")
    lines += [
        "",
        f"**The check takes {ratio:.2f} times the bare cost in {judged} time** (wall "
        f"{whole.wall / one.wall:.2f}, processor {whole.cpu / one.cpu:.2f}; the goal is at most "
        "1.5).",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
