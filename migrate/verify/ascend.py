"""`ms-migrate verify --device Ascend-dry-run`: what the Ascend backend accepts of each row."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from migrate.envelope import as_text, envelope
from migrate.table import Table
from migrate.table.cache import directory
from migrate.table.evidence import FILE, ascend_said, load
from migrate.verify import dry_batch
from migrate.verify.ascend_page import page
from migrate.verify.ascend_tally import VERDICTS, AscendTally, by_row
from migrate.verify.fingerprint import row_hash, stale_rows
from migrate.verify.pool import Kept, Pool
from migrate.verify.tally import Notes

SOC = "Ascend910B2"


def run_dry(options: argparse.Namespace) -> int:
    """Run, show, and keep; 1 when something is refused or has no kernel."""
    from migrate.verify.command import asked_rows, chosen_cases, collect_notes, only_stale

    table = Table()
    kept = Kept(directory() / "verify-ascend")
    with (
        tempfile.TemporaryDirectory(prefix="ms-migrate-") as scratch,
        Pool(max(1, options.jobs), _variables(Path(scratch))) as pool,
    ):
        if options.stale and not only_stale(options, table, pool):
            return 0
        chosen = _unknown_first(table, pool.cases, chosen_cases(pool, table, options.api))
        notes = collect_notes(pool, kept, table, chosen, options, partial(_in_batches, pool))
    rows: dict[str, AscendTally] = {}

    def canonical(name: str) -> str:
        entry = table.get(name)
        return entry.torch if entry is not None else name

    for key in sorted(notes):
        by_row(notes[key], rows, canonical)
    rows = asked_rows(rows, table, options.api)
    if options.update:
        _update(table, rows)
    _show(rows, options)
    return int(any(tally.verdict not in VERDICTS[:3] for tally in rows.values()))


def _in_batches(pool: Pool, keys: list[str], limit: float) -> Iterator[tuple[str, Notes]]:
    for _, notes in pool.run(dry_batch.batches(keys), limit, dry_batch.SIZE):
        yield from dry_batch.by_case(notes)


def _unknown_first(table: Table, cases: dict[str, list[str]], chosen: list[str]) -> list[str]:
    """A sweep takes an hour, and may be stopped: the cases come first that give the most rows a
    verdict, of those that have none or have changed since.
    """
    waiting = set(stale_rows(table, load(table.folder), "ascend"))
    first: dict[str, int] = {}
    for key in chosen:
        new = {table.canonical(name) for name in cases[key]} & waiting
        waiting -= new
        first[key] = len(new)
    return sorted(chosen, key=lambda key: -first[key])


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
    from migrate.verify.pages import write_pages

    evidence = load(table.folder)
    for name, tally in rows.items():
        entry = table.get(name)
        if entry is not None and name in evidence.rows:
            evidence.rows[name]["ascend"] = {**tally.document(), "hash": row_hash(entry)}
    write_file(table.folder / FILE, evidence.text())
    docs = table.folder.parent / "docs" / "results"
    if docs.is_dir():
        write_file(docs / "ascend_dry_run.md", page(table, evidence, SOC))
        write_pages(table, evidence, docs.parent)


def totals(rows: dict[str, str]) -> list[tuple[str, int]]:
    """Verdicts, worst last, with the number of rows."""
    counted = Counter(rows.values())
    return [(verdict, counted[verdict]) for verdict in VERDICTS if counted[verdict]]


def _show(rows: dict[str, AscendTally], options: argparse.Namespace) -> None:
    if options.format == "json":
        found = {name: tally.document() for name, tally in sorted(rows.items())}
        body = {"soc": SOC, "rows": found}
        sys.stdout.write(as_text(envelope("verify-ascend", body)))
        return
    for name, tally in sorted(rows.items()):
        if options.api or tally.verdict != "accepted":
            print(f"{name}: {ascend_said(tally.document())}")
    verdicts = {name: tally.verdict for name, tally in rows.items()}
    print(f"{len(rows)} rows in dry run on {SOC}: ", end="")
    print(
        ", ".join(f"{count} {verdict}" for verdict, count in totals(verdicts)) + os.linesep, end=""
    )
