"""What a row's behaviour depends on, as a short hash: evidence of another hash is stale."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from migrate.table import Entry, Overload, Table
from migrate.table.evidence import Evidence

_FORM = ("params", "mindspore", "emit", "helper", "rename", "pin", "drop", "refuse", "values")


def row_hash(entry: Entry) -> str:
    """Of everything in the row that decides what is emitted: helpers and rules included."""
    parts: list[str] = [entry.torch, entry.kind, str(entry.inplace)]
    for overload in entry.overloads:
        parts += [f"{key}={_plain(getattr(overload, key))}" for key in _FORM]
        parts += [f"rule {name}: {_rule_text(name)}" for name in overload.rules]
        parts += [f"helper {name}: {_helper_text(name)}" for name in _helpers(overload)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:10]


def stale_rows(table: Table, evidence: Evidence, device: str = "") -> list[str]:
    """Rows on record that have changed since they were run: on the CPU, or on another device."""
    found = []
    for name, row in evidence.rows.items():
        entry = table.get(name)
        record = row.get(device, {}) if device else row
        if entry is not None and record.get("hash") != row_hash(entry):
            found.append(name)
    return found


def case_hash(table: Table, names: list[str], versions: dict[str, str]) -> str:
    """Of all rows that a case may put on trial."""
    known = [entry for name in names if (entry := table.get(name)) is not None]
    text = "".join([*map(row_hash, known), *(f"{k}{v}" for k, v in sorted(versions.items()))])
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _plain(value: object) -> str:
    if hasattr(value, "items"):
        return str({key: _plain(item) for key, item in sorted(value.items())})
    return str(tuple(value)) if isinstance(value, (list, tuple)) else str(value)


def _helpers(overload: Overload) -> list[str]:
    named = re.findall(r"helpers\.(\w+)", overload.emit)
    return sorted({overload.helper, *named} - {""})


@cache
def _helper_text(name: str) -> str:
    from migrate.table.helper_pieces import helper_index

    index = helper_index()
    return "\n".join(definition.source for definition in index.closure([name]))


@cache
def _rule_text(name: str) -> str:
    folder = Path(__file__).parent.parent / "rewrite" / "rules"
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if re.search(rf"^def {re.escape(name)}\(", text, re.MULTILINE):
            # Where a rule imports from changes nothing of what it writes.
            return re.sub(r"^(from|import) .*\n", "", text, flags=re.MULTILINE)
    return ""
