"""Speed and memory of analyze beside bare parsers; writes docs/results/bench_analyze.md."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
RESULTS = CHECKOUT / "docs" / "results" / "bench_analyze.md"
ROUNDS = 3
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
# A machine that others use at the same time has no hour for the largest: BENCH_LINES=300000.
MOST = int(os.environ.get("BENCH_LINES", SIZES[-1]))

sys.path.insert(0, str(CHECKOUT))

from tests.bench.model_library import LIBRARY, folder  # noqa: E402
from tests.bench.paconvert import convert  # noqa: E402


class Result(NamedTuple):
    """The best of several rounds, and the largest memory of any."""

    wall: float
    cpu: float
    lines: int
    peak: float

    @property
    def speed(self) -> float:
        return self.lines / self.cpu


def package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        sys.exit(f"bench: {name} is not installed; run `make venv`")
    return Path(spec.origin).parent


def measure(*arguments: object) -> Result:
    """One case in one fresh interpreter."""
    done = subprocess.run(
        [sys.executable, str(HERE / "cases.py"), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    return Result(**json.loads(done.stdout.splitlines()[-1]))


def best(cases: list[tuple[object, ...]], rounds: int = ROUNDS) -> list[Result]:
    """Rounds over all cases in turn, so that a slow minute of the machine hits them alike."""
    found: list[list[Result]] = [[] for _ in cases]
    for number in range(rounds):
        for index, case in enumerate(cases):
            say(f"round {number + 1} of {rounds}: {case[0]} {' '.join(map(str, case[2:]))}")
            found[index].append(measure(*case))
    return [
        Result(
            min(r.wall for r in results),
            min(r.cpu for r in results),
            results[0].lines,
            max(r.peak for r in results),
        )
        for results in found
    ]


def start_up(*command: str) -> float:
    """Median processor time of a whole process."""
    times = []
    for _ in range(11):
        before = os.times()
        subprocess.run(command, capture_output=True, check=True, cwd=CHECKOUT)
        after = os.times()
        times.append(sum(after[2:4]) - sum(before[2:4]))
    return statistics.median(times)


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def parsers() -> str:
    models = package("torchvision") / "models"
    bare, libcst, alone, pair = best(
        [("ast", models), ("libcst", models), ("analyze", models), ("analyze", models, 2)]
    )
    rows = [
        ("ast.parse alone", bare),
        ("libcst.parse_module alone", libcst),
        ("ms-migrate analyze, 1 process", alone),
        ("ms-migrate analyze, 2 processes", pair),
    ]
    table = [
        "| | wall s | CPU s | lines per CPU s | times ast.parse | peak MB |",
        "|---|---|---|---|---|---|",
    ]
    for name, result in rows:
        table.append(
            f"| {name} | {result.wall:.2f} | {result.cpu:.2f} | {result.speed:,.0f} "
            f"| {result.cpu / bare.cpu:.1f} | {result.peak:.0f} |"
        )
    say("PaConvert")
    if converted := convert(models):
        wall, cpu = converted
        table.append(
            f"| PaConvert (converts; no formatting) | {wall:.2f} | {cpu:.2f} "
            f"| {bare.lines / cpu:,.0f} | {cpu / bare.cpu:.0f} | |"
        )
    title = f"## torchvision/models, {bare.lines:,} lines"
    return "\n".join([title, "", *table])


def compared(title: str, bare: Result, alone: Result) -> str:
    table = [
        "| | wall s | CPU s | lines per CPU s | times ast.parse | peak MB |",
        "|---|---|---|---|---|---|",
    ]
    for name, result in (("ast.parse alone", bare), ("ms-migrate analyze, 1 process", alone)):
        table.append(
            f"| {name} | {result.wall:.1f} | {result.cpu:.1f} | {result.speed:,.0f} "
            f"| {result.cpu / bare.cpu:.2f} | {result.peak:.0f} |"
        )
    return "\n".join([f"## {title}, {bare.lines:,} lines", "", *table])


def models() -> str:
    """A large library of torch models: everything in it is interpreted."""
    where = folder()
    if where is None:
        return f"## {LIBRARY}\n\nNot measured: it could not be downloaded."
    bare, alone = best([("ast", where), ("analyze", where)], rounds=2)
    return compared(LIBRARY, bare, alone)


def growth() -> str:
    torch = package("torch")
    sizes = [size for size in SIZES if size <= MOST]
    cases: list[tuple[object, ...]] = [("analyze", torch, 1, size) for size in sizes]
    cases.append(("analyze", torch, 2, min(SIZES[-2], sizes[-1])))
    table = [
        "| lines | processes | wall s | CPU s | lines per CPU s | peak MB |",
        "|---|---|---|---|---|---|",
    ]
    for case, result in zip(cases, best(cases, rounds=1), strict=True):
        table.append(
            f"| {result.lines:,} | {case[2]} | {result.wall:.1f} | {result.cpu:.1f} "
            f"| {result.speed:,.0f} | {result.peak:.0f} |"
        )
    if len(sizes) < len(SIZES):
        table += ["", f"Measured up to {sizes[-1]:,} lines (`BENCH_LINES={MOST}`)."]
    return "\n".join(["## Growth, on files of the installed torch package", "", *table])


def without_torch() -> str:
    """Files of all installed packages that never name torch: they are looked at, not read."""
    home = package("torchvision").parent
    bare, alone = best([("ast_without_torch", home), ("analyze_without_torch", home)], rounds=2)
    return compared("Installed packages that never name torch", bare, alone)


def starting() -> str:
    python = sys.executable
    program = str(Path(python).parent / "ms-migrate")
    for query in ("torch.nn.Conv2d", "relu"):  # so that the table has been read once
        subprocess.run([program, "lookup", query], capture_output=True, check=True)
    rows = [
        ('python -c "import rich"', start_up(python, "-c", "import rich")),
        ("ms-migrate --help", start_up(program, "--help")),
        ("ms-migrate lookup torch.nn.Conv2d", start_up(program, "lookup", "torch.nn.Conv2d")),
        ("ms-migrate lookup relu", start_up(program, "lookup", "relu")),
    ]
    base = rows[0][1]
    table = ["| command | CPU s | beyond the first |", "|---|---|---|"]
    table += [f"| `{name}` | {seconds:.3f} | {seconds - base:+.3f} |" for name, seconds in rows]
    return "\n".join(["## Start-up, the table read before", "", *table])


def main() -> None:
    parts = [
        "# How fast analyze is",
        f"Written by `python -m tests.bench analyze` (part of `make bench`) on {date.today()}: "
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"torch {version('torch')}, torchvision {version('torchvision')}, "
        f"libcst {version('libcst')}; load {os.getloadavg()[0]:.0f} at the start. Each number is "
        "the best of several fresh processes; on a loaded machine compare processor seconds. Peak "
        "memory is the largest seen; with two processes it is the sum.",
        parsers(),
        models(),
        without_torch(),
        growth(),
        starting(),
    ]
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
