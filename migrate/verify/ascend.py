"""`ms-migrate verify --device Ascend-dry-run`: what the Ascend backend accepts of each row."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from migrate.table import Table
from migrate.table.cache import directory
from migrate.table.evidence import FILE, ascend_said, load
from migrate.verify.ascend_tally import VERDICTS, AscendTally, by_row
from migrate.verify.pool import Kept, Pool

SOC = "Ascend910B2"


def run_dry(options: argparse.Namespace) -> int:
    """Run, show, and keep; 1 when something is refused or has no kernel."""
    from migrate.verify.command import chosen_cases, collect_notes

    table = Table()
    kept = Kept(directory() / "verify-ascend")
    with (
        tempfile.TemporaryDirectory(prefix="ms-migrate-") as scratch,
        Pool(max(1, options.jobs), _variables(Path(scratch))) as pool,
    ):
        # Layers, optimizers and our own samples compare values as they go.
        pool.cases = {key: pool.cases[key] for key in pool.cases if key.startswith("op:")}
        notes = collect_notes(pool, kept, table, chosen_cases(pool, table, options.api), options)
    rows: dict[str, AscendTally] = {}

    def canonical(name: str) -> str:
        entry = table.get(name)
        return entry.torch if entry is not None else name

    for key in sorted(notes):
        by_row(notes[key], rows, canonical)
    rows = {name: tally for name, tally in rows.items() if tally.verdict}
    if options.update:
        _update(table, rows)
    _show(rows, options)
    return int(any(tally.verdict not in VERDICTS[:3] for tally in rows.values()))


def _variables(scratch: Path) -> dict[str, str]:
    """The environment of the process that forks."""
    from migrate.preflight import installation, stubs
    from migrate.preflight.environment import child_environment
    from migrate.verify.dry_run import VARIABLE

    here = installation.find()
    variables = child_environment(here, stubs.prepare(here), scratch, SOC)
    for name in [name for name in variables if name.startswith("MS_DEV_")]:
        del variables[name]
    return {**variables, VARIABLE: "1", "NO_COLOR": "1"}


def _update(table: Table, rows: dict[str, AscendTally]) -> None:
    """Put the verdicts beside what the CPU said."""
    from migrate.report.output import write_file

    evidence = load(table.folder)
    for name, tally in rows.items():
        if name in evidence.rows:
            evidence.rows[name]["ascend"] = tally.document()
    write_file(table.folder / FILE, evidence.text())


def totals(rows: dict[str, str]) -> list[tuple[str, int]]:
    """Verdicts, worst last, with the number of rows."""
    counted = Counter(rows.values())
    return [(verdict, counted[verdict]) for verdict in VERDICTS if counted[verdict]]


def _show(rows: dict[str, AscendTally], options: argparse.Namespace) -> None:
    if options.format == "json":
        found = {name: tally.document() for name, tally in sorted(rows.items())}
        document = {"schema": "ms-migrate/verify-ascend", "version": 1, "soc": SOC, "rows": found}
        sys.stdout.write(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
        return
    for name, tally in sorted(rows.items()):
        if options.api or tally.verdict != "accepted":
            print(f"{name}: {ascend_said(tally.document())}")
    verdicts = {name: tally.verdict for name, tally in rows.items()}
    print(f"{len(rows)} rows in dry run on {SOC}: ", end="")
    print(
        ", ".join(f"{count} {verdict}" for verdict, count in totals(verdicts)) + os.linesep, end=""
    )
