"""Rows that whole programs put to the test: `mappings/programs.json`, written by `make hunt`.

`verify` runs rows for which torch has an operator, module or optimizer database. `no_grad`,
`Module.parameters` or `torch.float32` have none: what is known of them is that programs which use
them give torch's values, gradients and text in both modes.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

FILE = "programs.json"
SCHEMA = "ms-migrate/programs"
VERSION = 1
# One run may agree by luck; a row that is used in several without a difference is measured.
ENOUGH = 3


def is_measured(name: str, folder: Path) -> bool:
    """Whether enough programs that use this row were run, and nine of ten agree with torch."""
    path = folder / FILE
    right, run = _rows(path, _stamp(path)).get(name, (0, 0))
    return right >= ENOUGH and 10 * right >= 9 * run


def said(name: str, folder: Path) -> str:
    """`57 of 58 runs of programs that use it agree with torch`; empty when none was run."""
    path = folder / FILE
    right, run = _rows(path, _stamp(path)).get(name, (0, 0))
    if not run:
        return ""
    return f"{right} of {run} runs of programs that use it agree with torch"


def text(rows: dict[str, tuple[int, int]], versions: dict[str, str]) -> str:
    """The document: one row a line, the runs that agree and all runs."""
    head = {"schema": SCHEMA, "version": VERSION, "versions": versions}
    lines = [f' "{key}": {json.dumps(value)},' for key, value in head.items()]
    inner = [f"  {json.dumps(name)}: {json.dumps(rows[name])}" for name in sorted(rows)]
    return "{\n" + "\n".join(lines) + '\n "rows": {\n' + ",\n".join(inner) + "\n }\n}\n"


def _stamp(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


@cache
def _rows(path: Path, stamp: float) -> dict[str, tuple[int, int]]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: (right, run) for name, (right, run) in document.get("rows", {}).items()}
