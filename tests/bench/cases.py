"""What is measured, each in an interpreter of its own: `python cases.py NAME ARGUMENT...`.

Prints one JSON object: seconds, lines and the peak memory of the process and its children.
"""

from __future__ import annotations

import ast
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

Measured = tuple[float, int]  # seconds, lines


def files(where: Path, limit: int = 0) -> list[Path]:
    """Python files below a directory; with a limit, so many that their lines come close to it."""
    found = sorted(where.rglob("*.py")) if where.is_dir() else [where]
    if not limit:
        return found
    # Spread over the whole package: its parts differ, and the first are not like the rest.
    total = sum(map(lines, found))
    taken, due, have = [], 0.0, 0
    for path in found:
        due += lines(path) * limit / total
        if have + lines(path) / 2 <= due:
            taken.append(path)
            have += lines(path)
    return taken


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def parse_with_ast(where: str) -> Measured:
    texts = [path.read_bytes() for path in files(Path(where))]
    start = time.perf_counter()
    for text in texts:
        ast.parse(text)
    return time.perf_counter() - start, sum(text.count(b"\n") for text in texts)


def parse_with_libcst(where: str) -> Measured:
    import libcst

    texts = [path.read_bytes() for path in files(Path(where))]
    start = time.perf_counter()
    for text in texts:
        libcst.parse_module(text)
    return time.perf_counter() - start, sum(text.count(b"\n") for text in texts)


def analyze(where: str, jobs: str = "1", limit: str = "0") -> Measured:
    """All of the command but start-up: finding files, reading, judging, the JSON text."""
    from migrate.analyze.collect import analyse
    from migrate.analyze.command import render
    from migrate.analyze.model import Options
    from migrate.analyze.summary import summarise
    from migrate.project import discover
    from migrate.table import Table

    paths = files(Path(where), int(limit)) if int(limit) else [Path(where)]
    start = time.perf_counter()
    project, table, options = discover(paths), Table(), Options()
    reports = analyse(project, table, options, int(jobs))
    analysis = summarise(reports, project.skipped, table, options)
    render(analysis, "json")
    seconds = time.perf_counter() - start
    return seconds, sum(lines(file.path) for file in project.files)


CASES: dict[str, Callable[..., Measured]] = {
    "ast": parse_with_ast,
    "libcst": parse_with_libcst,
    "analyze": analyze,
}


def peak_megabytes() -> float:
    """This process and, where there were any, its children at their largest, two at a time."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (own + 2 * child) / 1024


def main() -> None:
    seconds, number = CASES[sys.argv[1]](*sys.argv[2:])
    peak = peak_megabytes()
    print(json.dumps({"seconds": seconds, "lines": number, "peak": peak}))


if __name__ == "__main__":
    main()
