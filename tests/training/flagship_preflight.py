"""Preflight of whole training programs, the five of tests/training/flagship and the bundled one:
`make flagship-ascend`, which writes docs/results/flagship_ascend.md.

python -m tests.training.flagship_preflight [NAME...]

Each program is ported and started by its own command line in the Ascend dry run: alone, with mixed
precision, and as the first of two processes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from tests.training import flagship_programs as programs

PAGE = programs.CHECKOUT / "docs" / "results" / "flagship_ascend.md"
DATA = PAGE.with_suffix(".json")
SETTINGS = {"alone": (False, 1), "mixed precision": (True, 1), "two processes": (False, 2)}
BUNDLED = ["--arch", "resnet18", "--image-size", "32", "--batch-size", "4", "--epochs", "1"]
INTRODUCTION = """\
# Training programs on MindSpore's Ascend backend, in dry run

Made by `make flagship-ascend`. The programs of `tests/training/flagship` and the bundled
`reference_pt/train.py` are ported with no hand edit and started by their own command lines in
`ms-migrate preflight` (MindSpore 2.10.0, as Ascend910B2, no device):
[what that leaves unchecked](../preflight.md). Every data loader gives one batch. A
program that starts its processes itself (imagenet) was not run as one of two.

{left}| program | setting | mode | verdict | kernels | findings | run on |
|---|---|---|---|---|---|---|
"""


def arguments(name: str, folder: Path, amp: bool, ranks: int) -> tuple[Path, list[str]]:
    """The ported script and its command line."""
    if name == "bundled":
        more = [*(["--amp"] if amp else []), *(["--distributed"] if ranks > 1 else [])]
        return programs.CHECKOUT / "ported_ms" / "train.py", [*BUNDLED, *more]
    program = programs.ALL[name]
    (folder / f"out_{name}").mkdir(exist_ok=True)
    more = program.two if ranks > 1 else []
    given = programs.command(program, folder / f"out_{name}", 1, None, amp, more)
    return folder / f"ported_{name}" / program.script, given


def check(name: str, folder: Path, amp: bool, ranks: int) -> list[dict[str, Any]]:
    """A row for each mode."""
    script, given = arguments(name, folder, amp, ranks)
    words = [sys.executable, "-m", "migrate", "preflight", str(script), "--format", "json"]
    done = subprocess.run(
        [*words, "--quiet", "--timeout", "600", "--ranks", str(ranks), "--", *given],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(programs.CHECKOUT)},
        check=False,
    )
    try:
        runs: list[dict[str, Any]] = json.loads(done.stdout)["runs"]
    except (ValueError, KeyError):
        raise SystemExit(f"{name}: {done.stdout[-1000:]}{done.stderr[-2000:]}") from None
    return runs


def row(name: str, setting: str, run: dict[str, Any], folder: Path) -> dict[str, Any]:
    found = [
        f"{one['problem']} {one['operator']} ({one['message'][:160]}) "
        + ", ".join(f"{Path(p['file']).name}:{p['line']}" for p in one["places"][:2])
        for one in run["findings"]
    ]
    return {
        "program": name,
        "setting": setting,
        "mode": run["mode"],
        "verdict": run["verdict"],
        "kernels": ", ".join(f"{count} {kind}" for kind, count in run["kernels"].items()),
        "findings": "; ".join(found).replace(str(folder), ".").replace("|", " "),
        "date": date.today().isoformat(),
    }


def write(rows: dict[str, dict[str, Any]]) -> None:
    DATA.write_text(json.dumps(rows, indent=0) + "\n", encoding="utf-8")
    order = [*programs.ALL, "bundled"]
    listed = sorted(rows.values(), key=lambda r: (order.index(r["program"]), r["setting"]))
    known = {one["program"] for one in listed}
    missing = [name for name in order if name not in known]
    left = f"**Not run: {', '.join(missing)}.**\n\n" if missing else ""
    lines = ["| " + " | ".join(map(str, one.values())) + " |" for one in listed]
    page = INTRODUCTION.format(left=left) + "\n".join(lines) + "\n"
    PAGE.write_text(page, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args().names or ["bundled", *programs.ALL]
    rows = json.loads(DATA.read_text()) if DATA.is_file() else {}
    with tempfile.TemporaryDirectory(prefix="flagship-ascend-") as scratch:
        folder = Path(scratch)
        programs.write_data(folder)
        for name in names:
            if name in programs.ALL:
                programs.port(programs.ALL[name], folder)
            for setting, (amp, ranks) in SETTINGS.items():
                if ranks > 1 and name in programs.ALL and programs.ALL[name].spawns:
                    continue  # it starts its processes itself; preflight is one of them
                for run in check(name, folder, amp, ranks):
                    found = row(name, setting, run, folder)
                    rows[f"{name}, {setting}, {run['mode']}"] = found
                    said = f"{name} {setting} {run['mode']}: {run['verdict']} {found['findings']}"
                    print(said, file=sys.stderr, flush=True)
                write(rows)
    return int(any(one["verdict"] != "accepted" for one in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
