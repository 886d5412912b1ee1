"""Porting torchvision's models: beside the bare parser, and beside PaConvert, in one run.

Processor seconds, because they hold on a busy machine too; every tool in one process.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path

from tests.bench import paconvert

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results" / "bench_port.md"
_BARE = """
import sys
from pathlib import Path
import libcst as cst

class Nothing(cst.CSTTransformer):
    def leave_Name(self, original_node, updated_node):
        return updated_node

for path in sorted(Path(sys.argv[1]).rglob("*.py")):
    tree = cst.parse_module(path.read_text(encoding="utf-8")).visit(Nothing())
    tree.code
"""


def main() -> None:
    spec = importlib.util.find_spec("torchvision")
    assert spec is not None and spec.origin is not None
    source = Path(spec.origin).parent / "models"
    files = sorted(source.rglob("*.py"))
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy = folder / "models"
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        bare = _seconds([sys.executable, "-c", _BARE, str(copy)])
        port = [sys.executable, "-m", "migrate", "port", str(copy), "-o", str(folder / "ours")]
        ours = _seconds([*port, "--jobs", "1", "--quiet"])
        theirs, their_output = _paconvert(copy, folder, [])
        plain, _ = _paconvert(copy, folder, ["--no_format"])
        rows = [
            _row("libcst: parse, one transform, code", lines, bare, None),
            _row("ms-migrate port, one process", lines, ours, _kept(copy, folder / "ours")),
        ]
        if theirs is not None:
            rows.append(_row("PaConvert, as it comes", lines, theirs, _kept(copy, their_output)))
        if plain is not None:
            rows.append(_row("PaConvert --no_format", lines, plain, _kept(copy, their_output)))
    text = _page(len(files), lines, rows, ours / bare, theirs and theirs / ours)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


def _seconds(command: list[str]) -> float:
    """Processor seconds of a command, the better of two runs; exit 1 says that work is left."""
    best = float("inf")
    for _ in range(2):
        for left in command:
            if left.endswith("/ours"):
                shutil.rmtree(left, ignore_errors=True)
        before = os.times()
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr.decode())
        after = os.times()
        best = min(best, sum(after[2:4]) - sum(before[2:4]))
    return best


def _paconvert(copy: Path, folder: Path, more: list[str]) -> tuple[float | None, Path]:
    out = folder / "theirs"
    shutil.rmtree(out, ignore_errors=True)
    program = paconvert.installed_program()
    if program is None:
        return None, out
    command = [str(program), "--in_dir", str(copy), "--out_dir", str(out), *more]
    before = os.times()
    subprocess.run(
        [*command, "--log_dir", str(folder / "log")], cwd=folder, capture_output=True, check=True
    )
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4]), out


def _kept(source: Path, output: Path) -> float:
    """The share of the comments that the output still has."""
    before = _count(source, lambda path: True)
    after = _count(output, lambda path: path.name != "ms_migrate_helpers.py")
    return sum((before & after).values()) / sum(before.values())


def _count(folder: Path, wanted: Callable[[Path], bool]) -> Counter[str]:
    found: Counter[str] = Counter()
    for path in folder.rglob("*.py"):
        if wanted(path):
            text = io.StringIO(path.read_text(encoding="utf-8"))
            try:
                tokens = list(tokenize.generate_tokens(text.readline))
            except (tokenize.TokenError, SyntaxError):
                continue
            found.update(token.string for token in tokens if token.type == tokenize.COMMENT)
    return found


def _row(name: str, lines: int, seconds: float, kept: float | None) -> str:
    share = "" if kept is None else f"{kept:.1%}"
    return f"| {name} | {seconds:.1f} | {lines / seconds:,.0f} | {share} |"


def _page(files: int, lines: int, rows: list[str], bare: float, faster: float | None) -> str:
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("libcst", "torchvision")
    )
    beside = "PaConvert could not be installed." if faster is None else ""
    if faster is not None:
        beside = (
            f"As it comes, PaConvert takes {faster:.1f} times the processor time of ms-migrate; "
            "most of that is its formatter, which --no_format leaves out."
        )
    return "\n".join(
        [
            "# Speed of port",
            "",
            f"torchvision's models, {files} files, {lines:,} lines; processor seconds, one process",
            "each, interpreter start and reading of the table included.",
            "",
            "- command: `python -m tests.bench port`",
            f"- date: {date.today()}",
            f"- Python {sys.version.split()[0]}, {versions}",
            "",
            "| what | processor seconds | lines a second | comments kept |",
            "|---|--:|--:|--:|",
            *rows,
            "",
            f"ms-migrate takes {bare:.1f} times the bare parser. {beside}",
            "",
        ]
    )


if __name__ == "__main__":
    main()
