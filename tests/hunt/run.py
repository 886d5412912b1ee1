"""Port every program, run it three ways, judge it."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.hunt import torch_records
from tests.hunt.compare import difference
from tests.hunt.idioms import Program

CHECKOUT = Path(__file__).resolve().parents[2]
MODES = ("pynative", "graph")
VERDICTS = ("right", "flagged", "loud", "silent")
SECONDS = float(os.environ.get("MS_MIGRATE_HUNT_SECONDS", "90"))  # one program in one mode


@dataclass(slots=True)
class Judged:
    """One program with its verdict, the worse of the two modes."""

    program: Program
    verdict: str
    differences: dict[str, str] = field(default_factory=dict)  # mode -> what differs
    findings: list[str] = field(default_factory=list)
    date: str = ""  # of the run; "" for records from before dates were kept


def hunt(programs: Iterable[Program], folder: Path, *, jobs: int = 1) -> list[Judged]:
    """Everything below `folder`: for each program its source, its port and three records."""
    chosen = list(programs)
    findings = [_prepare(program, folder) for program in chosen]
    folders = [folder / program.folder for program in chosen]
    known = torch_records.restore([f / "source" for f in folders])
    work = [("torch", [f / "source" for f in folders if f / "source" not in known])]
    work += [(mode, [f / "ported" for f in folders]) for mode in MODES]
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        list(pool.map(lambda item: _run(*item), work))
    torch_records.keep([f / "source" for f in folders if f / "source" not in known])
    return [judge(p, f, n) for p, f, n in zip(chosen, folders, findings, strict=True)]


def _prepare(program: Program, folder: Path) -> list[str]:
    """Write the program and its port; what the port has to say about it."""
    place = folder / program.folder
    shutil.rmtree(place, ignore_errors=True)
    source = place / "source"
    for name, text in program.files.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return port(source, place / "ported")


def port(source: Path, output: Path) -> list[str]:
    from migrate.port.tree import Options, port_tree
    from migrate.port.write_output import write_tree
    from migrate.project import discover

    try:
        tree = port_tree([source], discover([source]), _table(), Options(output=output))
        write_tree(tree, output, force=True)
    except Exception:
        output.mkdir(parents=True, exist_ok=True)
        (output / "main.py").write_text("raise RuntimeError('the porter failed')\n")
        (output / "port.log").write_text(traceback.format_exc())
        return []
    return [f"{f.line}: {f.code} {f.message}" for f in tree.findings]


@functools.cache
def _table() -> Any:
    from migrate.table import Table

    return Table()


def _run(mode: str, folders: list[Path]) -> None:
    """One server for all; if it ends, the rest goes on in a fresh one."""
    waiting = list(folders)
    while waiting:
        server = _start(mode)
        if _answer(server):
            while waiting and _ask(server, waiting[0]):
                waiting.pop(0)
        server.kill()
        server.wait()
        if waiting:
            (waiting.pop(0) / f"{mode}.json").write_text('{"crash": "the forking process ended"}')


def _ask(server: subprocess.Popen[str], folder: Path) -> bool:
    assert server.stdin is not None
    try:
        server.stdin.write(f"{folder}\n")
        server.stdin.flush()
    except BrokenPipeError:
        return False
    return _answer(server)


def _answer(server: subprocess.Popen[str]) -> bool:
    assert server.stdout is not None
    return bool(server.stdout.readline())


def _start(mode: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("worker.py")), mode, str(SECONDS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "GLOG_v": "4",
            "PYTHONPATH": str(CHECKOUT),
            "ONEDNN_MAX_CPU_ISA": os.environ.get("ONEDNN_MAX_CPU_ISA", "AVX2"),
        },
    )


def judge(program: Program, folder: Path, findings: list[str]) -> Judged:
    """Silent: other values without a word. Loud: an error that nothing foretold."""
    expected = json.loads((folder / "source" / "torch.json").read_text())
    differences = {}
    for mode in MODES:
        found = json.loads((folder / "ported" / f"{mode}.json").read_text())
        if text := difference(expected, found):
            differences[mode] = text
    if ("error" in expected or "crash" in expected) and not program.raises:
        return Judged(program, "invalid", {"torch": str(expected)[:300]})
    if not differences:
        verdict = "right"
    elif findings:
        verdict = "flagged"
    elif all(text.startswith("raises") for text in differences.values()):
        verdict = "loud"
    else:
        verdict = "silent"
    return Judged(program, verdict, differences, findings)
