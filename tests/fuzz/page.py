"""The page of a fuzzing run: how much was read, and what was found."""

from __future__ import annotations

import json
import platform
from collections import Counter
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

KINDS = {
    "crash": "an exception reached the caller",
    "analyze": "`analyze` reported an internal error (MS209)",
    "port": "`port` reported an internal error (MS209)",
    "hang": "a file took longer than its limit",
    "does not parse": "the output is not valid Python",
    "comments": "comments were lost",
    "docstrings": "docstrings were lost",
    "changed although it names nothing of torch": "a file without torch was changed",
    "ported again": "porting the output changed it again",
    "given up": "the guard or the rewriter left the file as it is (MS312)",
}


def kind_of(problem: str) -> str:
    head = problem.partition(":")[0]
    return head.split(" ", 1)[1].removesuffix(" lost") if head.endswith(" lost") else head


def write_page(results: Path, page: Path, whole: int) -> None:
    """`whole` is the number of files of a run that was not stopped."""
    rows: list[dict[str, Any]] = [
        row
        for row in map(json.loads, results.read_text(encoding="utf-8").splitlines())
        if row["path"]
    ]
    problems: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        for problem in row["problems"]:
            problems.setdefault(kind_of(problem), []).append((_short(row), problem))
    page.write_text("\n".join(_lines(rows, problems, whole)) + "\n", encoding="utf-8")


def _short(row: dict[str, Any]) -> str:
    """A path from the package on: where the package lies is this machine's business."""
    package = row["package"].split("/")[1]
    _, _, inside = row["path"].rpartition(f"/{package}/")
    return f"{package}/{inside}" if inside and inside != row["path"] else package


def _lines(
    rows: list[dict[str, Any]], problems: dict[str, list[tuple[str, str]]], whole: int
) -> list[str]:
    kinds = Counter(row["package"].partition("/")[0] for row in rows)
    packages = {"/".join(row["package"].split("/")[:2]) for row in rows}
    refused = Counter(row["refused"] for row in rows if row["refused"])
    slowest = max((row["seconds"] for row in rows), default=0.0)
    lines = [
        "# Fuzzing: any Python in",
        "",
        "`make fuzz` analyses and ports every file of the standard library, of the installed "
        "packages and of packages that",
        "`tests/fuzz/download.py` fetches, and ports the output once more. "
        f"Last run {date.today()}, Python {platform.python_version()},",
        f"libcst {version('libcst')}, torch {version('torch')}, one process.",
        "",
        *_stopped(len(rows), whole),
        "The first file of a package bears the cost of reading the package.",
        "",
        "| | |",
        "|---|---|",
        f"| files | {len(rows):,} in {len(packages):,} packages "
        f"({', '.join(f'{count:,} {kind}' for kind, count in kinds.items())}) |",
        f"| lines | {sum(row['lines'] for row in rows):,} |",
        f"| files that use torch | {sum(row['torch'] for row in rows):,} |",
        f"| files that the port changed | {sum(row['changed'] for row in rows):,} |",
        f"| files without torch that were interpreted all the same | "
        f"{sum(row.get('interpreted', False) for row in rows):,} |",
        f"| ports that were ported again | {sum(row.get('twice', False) for row in rows):,} |",
        "| files refused with a finding | "
        + (", ".join(f"{count} {code}" for code, count in sorted(refused.items())) or "none")
        + " |",
        f"| slowest file | {slowest:.0f} s |",
        "",
        "| what must not happen | files |",
        "|---|---|",
    ]
    for kind, meaning in KINDS.items():
        lines.append(f"| {meaning} | {len({name for name, _ in problems.get(kind, [])}):,} |")
    for kind, found in problems.items():
        lines += ["", f"## {KINDS.get(kind, kind)}", ""]
        lines += [f"- `{name}`: {_code(problem)}" for name, problem in found[:40]]
        if len(found) > 40:
            lines.append(f"- and {len(found) - 40} more")
    return lines


def _stopped(count: int, whole: int) -> list[str]:
    """A run in pieces goes on at the next `make fuzz`."""
    if count >= whole:
        return []
    return [
        f"**This is not the whole run**: {count:,} of {whole:,} files so far, in pieces, each with "
        "the port of its day.",
        "",
    ]


def _code(problem: str) -> str:
    text = " ".join(problem.split())[:220].replace("`", "'")
    return f"`{text}`"
