"""Speed and memory of analyze beside bare parsers; writes docs/results/bench_analyze.md."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
RESULTS = CHECKOUT / "docs" / "results" / "bench_analyze.md"
ROUNDS = 5
SIZES = (10_000, 30_000, 100_000, 300_000)

sys.path.insert(0, str(CHECKOUT))

from tests.bench.paconvert import convert  # noqa: E402


class Result(NamedTuple):
    """The best of several rounds: what the machine can do when nothing else runs."""

    seconds: float
    lines: int
    peak: float

    @property
    def speed(self) -> float:
        return self.lines / self.seconds


def package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        sys.exit(f"bench: {name} is not installed; run `make venv`")
    return Path(spec.origin).parent


def measure(*arguments: object) -> Result:
    """One case in one fresh interpreter."""
    done = subprocess.run(
        [sys.executable, str(HERE / "cases.py"), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    return Result(answer["seconds"], answer["lines"], answer["peak"])


def best(cases: list[tuple[object, ...]], rounds: int = ROUNDS) -> list[Result]:
    """Rounds over all cases in turn, so that a slow minute of the machine hits them alike."""
    found: list[list[Result]] = [[] for _ in cases]
    for number in range(rounds):
        for index, case in enumerate(cases):
            say(f"round {number + 1} of {rounds}: {' '.join(map(str, case))}")
            found[index].append(measure(*case))
    return [
        Result(min(r.seconds for r in results), results[0].lines, max(r.peak for r in results))
        for results in found
    ]


def start_up(*command: str) -> float:
    """Median wall time of a whole process."""
    times = []
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True, cwd=CHECKOUT)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr)


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
    table = ["| | seconds | lines/s | times ast.parse | peak MB |", "|---|---|---|---|---|"]
    for name, result in rows:
        ratio = result.seconds / bare.seconds
        table.append(
            f"| {name} | {result.seconds:.2f} | {result.speed:,.0f} | {ratio:.1f} | {result.peak:.0f} |"
        )
    say("PaConvert")
    seconds = convert(models)
    if seconds is not None:
        table.append(
            f"| PaConvert (converts; no formatting) | {seconds:.2f} | {bare.lines / seconds:,.0f} "
            f"| {seconds / bare.seconds:.0f} | |"
        )
    title = f"## torchvision/models, {bare.lines:,} lines"
    return "\n".join([title, "", *table])


def growth() -> str:
    torch = package("torch")
    cases = [("analyze", torch, jobs, size) for size in SIZES for jobs in (1, 2)]
    results = best(cases, rounds=2)
    table = ["| lines | processes | seconds | lines/s | peak MB |", "|---|---|---|---|---|"]
    for case, result in zip(cases, results, strict=True):
        table.append(
            f"| {result.lines:,} | {case[2]} | {result.seconds:.1f} | {result.speed:,.0f} "
            f"| {result.peak:.0f} |"
        )
    return "\n".join(["## Growth, on files of the installed torch package", "", *table])


def starting() -> str:
    python = sys.executable
    program = str(Path(python).parent / "ms-migrate")
    subprocess.run([program, "lookup", "torch.nn.Conv2d"], capture_output=True, check=True)
    rows = [
        ('python -c "import rich"', start_up(python, "-c", "import rich")),
        ("ms-migrate --help", start_up(program, "--help")),
        ("ms-migrate lookup torch.nn.Conv2d", start_up(program, "lookup", "torch.nn.Conv2d")),
        ("ms-migrate lookup relu", start_up(program, "lookup", "relu")),
    ]
    base = rows[0][1]
    table = ["| command | seconds | beyond the first |", "|---|---|---|"]
    table += [f"| `{name}` | {seconds:.3f} | {seconds - base:+.3f} |" for name, seconds in rows]
    return "\n".join(["## Start-up, the table read before", "", *table])


def main() -> None:
    parts = [
        "# How fast analyze is",
        f"Written by `make bench`: {platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}. Each number is the best of several fresh processes; peak "
        "memory is the largest seen, with two processes the sum.",
        parsers(),
        growth(),
        starting(),
    ]
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
