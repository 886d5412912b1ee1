"""The committed record of what was run: one line a row, so that a change shows as one line."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from migrate.table.ascend_kernels import reason

FILE = "evidence.json"
SCHEMA = "ms-migrate/evidence"
VERSION = 1
# Verdicts of dry runs with which a program runs on an Ascend, fast or slowly.
TAKEN = ("accepted", "AI CPU", "host CPU")
SLOW = TAKEN[1:]


@dataclass(slots=True)
class Evidence:
    """Results by torch name (`rows`) and by database entry (`cases`)."""

    versions: dict[str, str] = field(default_factory=dict)
    platform: str = ""
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    cases: dict[str, dict[str, Any]] = field(default_factory=dict)

    def text(self) -> str:
        """JSON with one row a line, sorted."""
        head = {
            "schema": SCHEMA,
            "version": VERSION,
            "versions": self.versions,
            "platform": self.platform,
        }
        lines = [f' "{key}": {_dump(value)},' for key, value in head.items()]
        for name, block in (("rows", self.rows), ("cases", self.cases)):
            inner = [f"  {_dump(key)}: {_dump(block[key])}" for key in sorted(block)]
            lines.append(
                f' "{name}": {{\n' + ",\n".join(inner) + "\n }" + (",", "")[name == "cases"]
            )
        return "{\n" + "\n".join(lines) + "\n}\n"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def load(folder: Path) -> Evidence:
    """What is on record; nothing when the table was never verified."""
    try:
        document = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Evidence()
    return Evidence(
        document.get("versions", {}),
        document.get("platform", ""),
        document.get("rows", {}),
        document.get("cases", {}),
    )


def ascend_said(document: dict[str, Any]) -> str:
    """`accepted (PyNative 4/4; gradient 4/4; Graph mode 2/2)`, and the first that is not."""
    words = (("pynative", "PyNative"), ("gradient", "gradient"), ("graph", "Graph mode"))
    parts = [f"{word} {document[stage]}" for stage, word in words if stage in document]
    parts += [f"{dtype} {verdict}" for dtype, verdict in document.get("dtypes", {}).items()]
    text = f"{document['verdict']} ({'; '.join(parts)})"
    if not document.get("first"):
        return text
    kept = reason(document["first"]) if document["verdict"] in SLOW else ""
    return f"{text}; {document['first']}" + (f" ({kept})" if kept else "")


def contradiction(platforms: tuple[str, ...], verdict: str) -> str:
    """Where the dry run denies what MindSpore's documentation says of the device."""
    listed = "Ascend" in platforms
    if listed and verdict in ("no kernel", "dtype refused"):
        return "MindSpore's documentation lists Ascend"
    if not listed and verdict in TAKEN:
        return "MindSpore's documentation does not list Ascend"
    return ""


@cache
def _loaded(folder: Path, stamp: float) -> Evidence:
    return load(folder)


def _stamp(folder: Path) -> float:
    try:
        return (folder / FILE).stat().st_mtime
    except OSError:
        return 0.0


def verdict(name: str, folder: Path) -> str:
    """agrees, refused, fails or disagrees; empty when it was never run."""
    found = _loaded(folder, _stamp(folder)).rows.get(name)
    return str(found["verdict"]) if found else ""


def dry_run(name: str, folder: Path) -> dict[str, Any]:
    """What the Ascend backend said of a row in dry run; empty when it was not run."""
    found = _loaded(folder, _stamp(folder)).rows.get(name, {})
    return dict(found.get("ascend", {}))


def said(name: str, folder: Path, row_hash: str = "") -> str:
    """One sentence for a person about one row; empty when it was never run."""
    evidence = _loaded(folder, _stamp(folder))
    found = evidence.rows.get(name)
    if found is None:
        return ""
    return sentence(found, evidence.versions, evidence.platform, row_hash)


def sentence(found: dict[str, Any], versions: dict[str, str], platform: str, row_hash: str) -> str:
    """`agrees with torch 2.13.0 on 48 samples (...)`, and what does not."""
    parts = []
    for stage, word in (("forward", "values"), ("gradient", "gradients"), ("graph", "Graph mode")):
        if stage in found:
            parts.append(f"{word} {found[stage]}")
    parts += [f"{dtype} {count}" for dtype, count in found.get("dtypes", {}).items()]
    if found.get("errors"):
        parts.append(f"torch's errors {found['errors']}")
    if found.get("refused"):
        parts.append(f"{found['refused']} refused by the porter")
    if found.get("random"):
        parts.append("random: shape, dtype and distribution compared")
    named = ", ".join(f"{key} {value}" for key, value in versions.items())
    text = f"{found['verdict']} ({'; '.join(parts)}; {named}, {platform})"
    if found.get("first"):
        text += f"; first: {found['first']}"
    if found.get("ascend"):
        old = "stale, " if row_hash and found["ascend"].get("hash") != row_hash else ""
        text += f"; dry run on Ascend: {old}{ascend_said(found['ascend'])}"
    if row_hash and found.get("hash") != row_hash:
        text = f"stale, the row has changed since: {text}"
    return text
