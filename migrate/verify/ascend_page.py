"""The page of the last dry runs: how many rows, in which dtypes, and every row that is not on the
device's AI Core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from migrate.table import Table
from migrate.table.ascend_kernels import reason
from migrate.table.evidence import SLOW, TAKEN, Evidence, contradiction
from migrate.verify.ascend_tally import NOT_RUN, REFUSALS, VERDICTS
from migrate.verify.fingerprint import stale_rows

_MEANINGS = {
    "accepted": "the backend takes every stage that was tried, with kernels on the device",
    "AI CPU": "accepted; a kernel runs on the chip's general cores: slow",
    "host CPU": "accepted; Graph mode falls back to the host: slow",
    "undecided": "a dry run cannot tell: the output's shape depends on values, or it did not end",
    "fails": "raises an error that is not about a kernel",
    "refused": "the backend, or the compiler, rejects the call",
    "dtype refused": "there is a kernel, but not for float32",
    "no kernel": "MindSpore's Ascend backend has none",
    NOT_RUN: "no sample could be run on the backend",
}
_MOST_TEXT = 150

_DTYPES = ("float16", "bfloat16", "int64", "int32", "bool", "float64", "complex64")


def page(table: Table, evidence: Evidence, soc: str) -> str:
    """Markdown."""
    rows = {name: row["ascend"] for name, row in evidence.rows.items() if "ascend" in row}
    stale = set(stale_rows(table, evidence, "ascend"))
    old = len(stale & set(rows))
    versions = ", ".join(f"{name} {version}" for name, version in evidence.versions.items())
    lines = [
        "# Rows of the table on MindSpore's Ascend backend, in dry run",
        "",
        "<!-- Made by `ms-migrate verify --device Ascend-dry-run --update`. -->",
        "",
        f"Measured with {versions}, as {soc}, with stub libraries and no device. Accepted means",
        "accepted by MindSpore, not by CANN ([what is not checked](../preflight.md)). The verdict",
        "is that of float32 (of the other dtypes where a row takes none), over PyNative mode, its",
        "gradient, and Graph mode with its gradient.",
        "",
        f"{len(rows):,} of {len(evidence.rows):,} verified rows were run on it"
        + (f"; {old:,} of them have changed since." if old else ", all as they are now."),
        "",
        *_totals(rows),
        *_by_dtype(rows),
        *_contradictions(table, rows),
        *_not_accepted(rows),
        *_dtypes_refused(rows),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _totals(rows: dict[str, dict[str, Any]]) -> Iterator[str]:
    counted = Counter(row["verdict"] for row in rows.values())
    yield from ("| verdict | rows | meaning |", "|---|---|---|")
    for verdict, meaning in _MEANINGS.items():
        if counted[verdict]:
            yield f"| {verdict} | {counted[verdict]:,} | {meaning} |"
    yield ""


def _by_dtype(rows: dict[str, dict[str, Any]]) -> Iterator[str]:
    yield from (
        "## Other dtypes",
        "",
        "aclnn kernels check no dtypes before CANN does: accepted says least here.",
        "",
        "| dtype | rows | accepted | slow | undecided | refused, no kernel, fails |",
        "|---|---|---|---|---|---|",
    )
    for dtype in _DTYPES:
        found = Counter(
            row["dtypes"][dtype] for row in rows.values() if dtype in row.get("dtypes", {})
        )
        slow = found["AI CPU"] + found["host CPU"]
        bad = sum(count for verdict, count in found.items() if verdict in VERDICTS[4:])
        yield (
            f"| {dtype} | {sum(found.values()):,} | {found['accepted']:,} | {slow} "
            f"| {found['undecided']} | {bad} |"
        )
    yield ""


def _contradictions(table: Table, rows: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The dry run wins, and the row says so."""
    found = []
    for name, row in sorted(rows.items()):
        entry = table.get(name)
        if entry is not None and (said := contradiction(tuple(entry.platforms), row["verdict"])):
            found.append(f"| `{name}` | `{entry.target or '-'}` | {row['verdict']} | {said} |")
    if found:
        yield from (
            "## Against MindSpore's documentation",
            "",
            "`analyze --device Ascend` and `lookup` believe the dry run.",
            "",
            "| row | emits | dry run | but |",
            "|---|---|---|---|",
        )
        yield from found
        yield ""


def _not_accepted(rows: dict[str, dict[str, Any]]) -> Iterator[str]:
    yield from (
        "## Not accepted on the AI Core",
        "",
        "A slow kernel stays for a reason: `mappings/ascend_kernels.toml`.",
        "",
        "| row | verdict | PyNative | gradient | Graph mode | first | why it stays |",
        "|---|---|---|---|---|---|---|",
    )
    for name, row in sorted(rows.items()):
        if row["verdict"] != "accepted":
            counts = " | ".join(row.get(stage, "") for stage in ("pynative", "gradient", "graph"))
            first = row.get("first", "")
            why = reason(first) if row["verdict"] in SLOW else ""
            yield f"| `{name}` | {row['verdict']} | {counts} | {_short(first)} | {why} |"
    yield ""


def _dtypes_refused(rows: dict[str, dict[str, Any]]) -> Iterator[str]:
    yield from (
        "## Dtypes that rows refuse",
        "",
        "Rows whose float32 is accepted.",
        "",
        "| row | refused | first |",
        "|---|---|---|",
    )
    for name, row in sorted(rows.items()):
        refused = [d for d, v in row.get("dtypes", {}).items() if v in REFUSALS]
        if refused and row["verdict"] in TAKEN:
            why = row.get("why", {}).get(refused[0], "")
            yield f"| `{name}` | {', '.join(refused)} | {_short(why)} |"
    yield ""


def _short(text: str) -> str:
    plain = " ".join(text.split()).replace("|", "\\|")
    return plain if len(plain) <= _MOST_TEXT else plain[:_MOST_TEXT].rstrip() + "..."
