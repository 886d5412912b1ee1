"""What is measured, each in an interpreter of its own: `python cases.py NAME ARGUMENT...`.

Prints one JSON object: wall and processor seconds, lines, and the peak memory of the process and
its children. On a busy machine the processor's seconds are the ones to compare.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

Measured = tuple[float, float, int]  # wall seconds, processor seconds, lines


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


class Clock:
    """Wall and processor time since it was made, children included."""

    def __init__(self) -> None:
        self._wall = time.perf_counter()
        self._cpu = _processor()

    def read(self, lines: int) -> Measured:
        return time.perf_counter() - self._wall, _processor() - self._cpu, lines


def _processor() -> float:
    own, children = os.times()[:2], os.times()[2:4]
    return sum(own) + sum(children)


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def foreign_files(where: Path) -> list[Path]:
    """Files of packages in which no file names torch, up to 700,000 lines; each must parse."""
    taken, have = [], 0
    for top in sorted(path for path in where.iterdir() if path.is_dir()):
        found = [path for path in sorted(top.rglob("*.py")) if path.is_file()]
        if not found or any(b"torch" in path.read_bytes() for path in found):
            continue
        for path in found:
            try:
                ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):
                continue
            taken.append(path)
            have += lines(path)
        if have > 700_000:
            break
    return taken


def parse_without_torch(where: str) -> Measured:
    texts = [path.read_bytes() for path in foreign_files(Path(where))]
    clock = Clock()
    for text in texts:
        ast.parse(text)
    return clock.read(sum(text.count(b"\n") for text in texts))


def analyze_without_torch(where: str) -> Measured:
    return _analyze(foreign_files(Path(where)), 1)


def parse_with_ast(where: str) -> Measured:
    texts = [path.read_bytes() for path in files(Path(where))]
    clock = Clock()
    for text in texts:
        ast.parse(text)
    return clock.read(sum(text.count(b"\n") for text in texts))


def parse_with_libcst(where: str) -> Measured:
    import libcst

    texts = [path.read_bytes() for path in files(Path(where))]
    clock = Clock()
    for text in texts:
        libcst.parse_module(text)
    return clock.read(sum(text.count(b"\n") for text in texts))


def analyze(where: str, jobs: str = "1", limit: str = "0") -> Measured:
    return _analyze(files(Path(where), int(limit)) if int(limit) else [Path(where)], int(jobs))


def _analyze(paths: list[Path], jobs: int) -> Measured:
    """All of the command but start-up: finding files, reading, judging, the JSON text."""
    from migrate.analyze.collect import analyse
    from migrate.analyze.model import Options
    from migrate.analyze.summary import summarise
    from migrate.collection import no_collection
    from migrate.commands.analyze import render
    from migrate.project import discover
    from migrate.table import Table

    clock = Clock()
    with no_collection():  # as the command runs
        project, table, options = discover(paths), Table(), Options()
        reports = analyse(project, table, options, jobs)
        analysis = summarise(reports, project.skipped, table, options)
        render(analysis, "json")
        return clock.read(sum(lines(file.path) for file in project.files))


CASES: dict[str, Callable[..., Measured]] = {
    "ast": parse_with_ast,
    "ast_without_torch": parse_without_torch,
    "analyze_without_torch": analyze_without_torch,
    "libcst": parse_with_libcst,
    "analyze": analyze,
}


def peak_megabytes() -> float:
    """This process and, where there were any, its children at their largest, two at a time."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (own + 2 * child) / 1024


def main() -> None:
    wall, processor, number = CASES[sys.argv[1]](*sys.argv[2:])
    peak = peak_megabytes()
    print(json.dumps({"wall": wall, "cpu": processor, "lines": number, "peak": peak}))


if __name__ == "__main__":
    main()
