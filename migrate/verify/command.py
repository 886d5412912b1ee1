"""`ms-migrate verify`: run the table's rows against torch's own databases and say what agreed."""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from migrate.command_line.parser import did_you_mean
from migrate.envelope import as_text, envelope
from migrate.errors import RequestError
from migrate.table import Table
from migrate.table.evidence import FILE, Evidence, load
from migrate.verify.fingerprint import case_hash, row_hash, stale_rows
from migrate.verify.pool import Kept, Pool
from migrate.verify.tally import Notes, Tally, by_row, of_case

_Of = TypeVar("_Of")
CLAIMS = ("supported", "rewritten", "composed")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "api",
        metavar="API",
        nargs="*",
        help="torch names (torch.nn.functional.gelu), prefixes (torch.linalg.) or cases (op:add); "
        "all without any",
    )
    parser.add_argument(
        "--device",
        choices=("CPU", "Ascend-dry-run"),
        default="CPU",
        help="Ascend-dry-run: what MindSpore's Ascend backend accepts, without a device",
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print the result"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument(
        "--timeout", type=float, default=60.0, help="seconds of computing for one case"
    )
    parser.add_argument("--fresh", action="store_true", help="run again what is already known")
    parser.add_argument(
        "--stale",
        action="store_true",
        help="only rows that have changed since their evidence, or have none",
    )
    parser.add_argument(
        "--update", action="store_true", help="write mappings/evidence.json and the pages in docs/"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def run(options: argparse.Namespace) -> int:
    """Run, show, and keep; 1 when a row that claims to be right is wrong."""
    if options.device != "CPU":
        from migrate.verify.ascend import run_dry

        return run_dry(options)
    table = Table()
    kept = Kept()
    with Pool(max(1, options.jobs)) as pool:
        if options.stale and not only_stale(options, table, pool):
            return 0
        chosen = chosen_cases(pool, table, options.api)
        notes = collect_notes(pool, kept, table, chosen, options)
        versions = pool.versions
    rows, cases = _tallies(notes, table)
    rows = asked_rows(rows, table, options.api)
    if options.update:
        _update(table, rows, cases, versions, everything=not options.api)
    if options.format == "json":
        sys.stdout.write(_document(table, rows, cases, versions))
    else:
        from migrate.verify.show import show

        show(table, rows, cases, brief=not options.api)
    return 1 if wrong_claims(table, rows) else 0


def wrong_claims(table: Table, rows: dict[str, Tally]) -> list[str]:
    """Rows that say they carry torch's meaning over, and do not; a note may except a dtype."""
    return sorted(
        name
        for name, tally in rows.items()
        if (entry := table.get(name)) is not None
        and entry.status in CLAIMS
        and "CPU" in entry.platforms
        and tally.unstated(entry.note)
    )


def only_stale(options: argparse.Namespace, table: Table, pool: Pool) -> bool:
    """Ask for the rows whose evidence is stale; False, and said so, where there are none."""
    device = "" if options.device == "CPU" else "ascend"
    known = {table.canonical(name) for names in pool.cases.values() for name in names}
    found = [name for name in stale_rows(table, load(table.folder), device) if name in known]
    if options.api:
        prefixes = tuple(name for name in options.api if name.endswith("."))
        wanted = {table.canonical(name) for name in options.api}
        found = [n for n in found if n in wanted or (prefixes and n.startswith(prefixes))]
    options.api = found
    if not found:
        print("no row has changed since its evidence")
    return bool(found)


def chosen_cases(pool: Pool, table: Table, asked: list[str]) -> list[str]:
    """The database entries that exercise what was asked for."""
    if not asked:
        return list(pool.cases)
    chosen: dict[str, None] = {}
    for name in asked:
        full = name if name.startswith("torch") or ":" in name else f"torch.{name}"
        row = table.canonical(full)
        found = [
            key
            for key, names in pool.cases.items()
            if key == name
            or row in names
            or full in names
            or (full.endswith(".") and any(n.startswith(full) for n in names))
        ]
        if not found:
            raise _without_samples(pool, table, name, full)
        chosen |= dict.fromkeys(found)
    return list(chosen)


def _without_samples(pool: Pool, table: Table, name: str, full: str) -> RequestError:
    """A row that no sample runs, or a name that was mistyped."""
    if table.get(full):
        what = f"no sample exercises {name}; its row is not measured"
        step = "add one to migrate/verify/own_samples.py (docs/verify.md says how)"
        return RequestError(what, next_step=step)
    close = did_you_mean(full, {one for names in pool.cases.values() for one in names})
    step = close or "`ms-migrate lookup NAME` finds APIs by a part of their name"
    return RequestError(f"no sample exercises {name}", next_step=step)


def collect_notes(
    pool: Pool,
    kept: Kept,
    table: Table,
    chosen: list[str],
    options: argparse.Namespace,
    run: Callable[[list[str], float], Iterator[tuple[str, Notes]]] | None = None,
) -> dict[str, Notes]:
    """Run the cases whose results are not known yet."""
    stamps = {key: case_hash(table, pool.cases[key], pool.versions) for key in chosen}
    notes: dict[str, Notes] = {}
    for key in chosen:
        known = None if options.fresh else kept.get(key, stamps[key], options.timeout)
        if known is not None:
            notes[key] = known
    waiting = [key for key in chosen if key not in notes]
    started = time.monotonic()
    for number, (key, found) in enumerate((run or pool.run)(waiting, options.timeout), 1):
        kept.put(key, stamps[key], found, options.timeout)
        notes[key] = found
        if not options.quiet:
            _progress(number, len(waiting), key, started)
    if waiting and not options.quiet and sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    return notes


def _progress(number: int, total: int, key: str, started: float) -> None:
    """One line that renews itself on a terminal; every fiftieth case elsewhere."""
    seconds = time.monotonic() - started
    left = seconds / number * (total - number)
    text = f"verify: {number} of {total}, {key}, about {left / 60:.0f} min left"
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
    elif number % 50 == 0 or number == total:
        print(text, file=sys.stderr)


def _tallies(notes: dict[str, Notes], table: Table) -> tuple[dict[str, Tally], dict[str, Tally]]:
    def canonical(name: str) -> str:
        entry = table.get(name)
        return entry.torch if entry is not None else name

    rows: dict[str, Tally] = {}
    for key in sorted(notes):
        by_row(notes[key], rows, canonical)
    for name, tally in rows.items():
        entry = table.get(name)
        tally.note = entry.note if entry is not None else ""
    return rows, {key: of_case(found) for key, found in notes.items()}


def asked_rows(rows: dict[str, _Of], table: Table, asked: list[str]) -> dict[str, _Of]:
    """Without the rows that share a case with them: they were put on trial by some samples only."""
    if not asked or any(":" in name for name in asked):
        return rows
    prefixes = tuple(name for name in asked if name.endswith("."))
    wanted = {table.canonical(name) for name in asked}
    found = {
        name: tally
        for name, tally in rows.items()
        if name in wanted or (prefixes and name.startswith(prefixes))
    }
    return found or rows


def _update(
    table: Table,
    rows: dict[str, Tally],
    cases: dict[str, Tally],
    versions: dict[str, str],
    *,
    everything: bool,
) -> None:
    from migrate.report.output import write_file
    from migrate.verify.pages import write_pages

    known = load(table.folder)
    evidence = Evidence() if everything else known
    evidence.versions = versions
    evidence.platform = f"CPU, {platform.system()} {platform.machine()}"
    for name, tally in rows.items():
        entry = table.get(name)
        if entry is not None and tally.verdict != "untried":
            ascend = known.rows.get(name, {}).get("ascend")
            evidence.rows[name] = tally.document(row_hash(entry))
            evidence.rows[name] |= {"ascend": ascend} if ascend else {}
    for key, tally in cases.items():
        evidence.cases[key] = tally.document("")
    write_file(table.folder / FILE, evidence.text())
    docs = table.folder.parent / "docs"
    if docs.is_dir():
        write_pages(table, evidence, docs)


def _document(
    table: Table, rows: dict[str, Tally], cases: dict[str, Tally], versions: dict[str, str]
) -> str:
    wrong = wrong_claims(table, rows)
    body: dict[str, Any] = {
        "versions": versions,
        "wrong_claims": wrong,
        "rows": {
            name: tally.document(row_hash(entry) if (entry := table.get(name)) else "")
            for name, tally in sorted(rows.items())
        },
        "cases": {key: tally.document("") for key, tally in sorted(cases.items())},
    }
    return as_text(envelope("verify", body, exit_code=int(bool(wrong))))
