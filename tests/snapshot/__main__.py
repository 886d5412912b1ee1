"""What a refactoring changes: the port of real packages as hashes and counts of findings by file.

`python -m tests.snapshot` compares with docs/results/port_snapshot.json and names every file whose
port differs (exit code 1); `--write` records the port as it is now. No foreign code is stored.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import importlib.metadata
import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from migrate.port.tree import Options, port_tree
from migrate.project import discover
from migrate.table import Table

ROOT = Path(__file__).resolve().parents[2]
SNAPSHOT = ROOT / "docs" / "results" / "port_snapshot.json"
PACKAGES = ("torchvision",)
FOLDERS = ("models", "ops", "transforms")

Rows = dict[str, dict[str, Any]]


def rows_of(name: str, folders: list[Path], table: Table) -> Rows:
    """One row a file: the hash of its port, and its findings by code."""
    rows: Rows = {}
    for folder in folders:
        ported = port_tree([folder], discover([folder]), table, Options(jobs=1))
        for target, file in sorted(ported.files.items()):
            problems = [file.problem] if file.problem else []
            codes = Counter(finding.code for finding in [*file.findings, *problems])
            rows[f"{name}/{folder.name}/{target}"] = {
                "port": hashlib.sha256(file.text.encode()).hexdigest()[:16],
                "findings": dict(sorted(codes.items())),
            }
    return rows


def measure() -> dict[str, Any]:
    table, rows, versions = Table(), {}, {}
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.origin is not None, f"{name} is not installed"
        home = Path(spec.origin).parent
        versions[name] = importlib.metadata.version(name)
        rows |= rows_of(name, [home / folder for folder in FOLDERS], table)
    rows |= rows_of("reference_pt", [ROOT / "reference_pt"], table)
    date = datetime.date.today().isoformat()
    return {"command": "make snapshot", "date": date, "versions": versions, "files": rows}


def differences(before: Rows, after: Rows) -> list[str]:
    """A line for each file that is new, gone, or ported in another way."""
    lines = [f"gone: {name}" for name in sorted(before.keys() - after.keys())]
    lines += [f"new: {name}" for name in sorted(after.keys() - before.keys())]
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name], after[name]
        if old["findings"] != new["findings"]:
            lines.append(f"findings: {name}: {old['findings']} became {new['findings']}")
        elif old["port"] != new["port"]:
            lines.append(f"code: {name}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.snapshot", description=__doc__)
    parser.add_argument("--write", action="store_true", help="record the port as it is now")
    write = parser.parse_args().write
    now = measure()
    if write or not SNAPSHOT.exists():
        SNAPSHOT.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        print(f"snapshot: wrote {len(now['files'])} files")
        return 0
    lines = differences(json.loads(SNAPSHOT.read_text(encoding="utf-8"))["files"], now["files"])
    print("\n".join(lines) or f"snapshot: {len(now['files'])} files port as before")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
