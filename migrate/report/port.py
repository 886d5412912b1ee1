"""What `port` says at the end: what was ported, what is left, and where."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from migrate.emit.helper_reasons import REASONS, reasons_of
from migrate.envelope import as_text, envelope
from migrate.findings import Finding, in_order
from migrate.port.tree import PortedTree
from migrate.printable import printable
from migrate.report import github
from migrate.report.coverage_words import covered, listed_assumptions, named_assumptions, open_items

# Helpers by reason (see helper_reasons), in the words of the summary.
_HELPERS_FOR = {
    "passed on": "passed as values",
    "semantics": "with torch's semantics",
    "composition": "composed",
    "data": "for data",
    "training": "for training",
}


class Shown(NamedTuple):
    """What counts of a port's findings, what was left out of them, and the exit code."""

    findings: Sequence[Finding]
    hidden: str = ""
    exit_code: int = 0
    assumptions: bool = False  # list them


def summary(tree: PortedTree, form: str, output: Path | None, shown: Shown | None = None) -> str:
    shown = shown or Shown(in_order(tree.findings))
    if form == "json":
        return _json(tree, output, shown)
    if form == "github":
        return github.render(shown.findings, _line(tree, output, shown))
    return _text(tree, output, shown)


def hint(tree: PortedTree, *, listed: bool) -> str:
    """Where a person finds the particulars of the summary."""
    if not tree.coverage.assumptions or listed:
        return ""
    return "--report FILE.html shows both sources side by side"


def _numbers(tree: PortedTree) -> dict[str, Any]:
    files = list(tree.files.values())
    counted = tree.coverage
    return {
        "files": len(files),
        "changed": sum(ported.changed for ported in files),
        "usages": counted.uses,
        "ported": counted.ported,
        "measured": counted.measured,
        "assumed": counted.assumed,
        "share": round(counted.share, 4),
        "open": len(in_order(tree.findings)),
        "helpers": len(tree.helpers),
        "helper_lines": sum(text.count("\n") for text in tree.helpers.values()),
        "helper_reasons": {reason: len(names) for reason, names in _reasons(tree).items()},
        "copied": len(tree.copies),
    }


def _reasons(tree: PortedTree) -> dict[str, set[str]]:
    """Helpers by why they are needed; one that is handed on anywhere counts as that."""
    found: dict[str, str] = {}
    for ported in tree.files.values():
        if ported.helpers and not ported.source.notebook:
            for name, reason in reasons_of(ported.text, ported.helpers).items():
                found[name] = reason if reason == "passed on" else found.get(name, reason)
    counted: dict[str, set[str]] = {reason: set() for reason in REASONS}
    for name, reason in found.items():
        counted[reason].add(name)
    return {reason: names for reason, names in counted.items() if names}


def _json(tree: PortedTree, output: Path | None, shown: Shown) -> str:
    body = {
        "output": str(output) if output else None,
        "summary": _numbers(tree),
        "files": [
            {
                "path": str(ported.source.path),
                "target": str(target),
                "changed": ported.changed,
                "usages": ported.usages,
                "ported": ported.ported,
                "helpers": sorted(ported.helpers),
                "notes": [{"line": line, "text": text} for line, text in ported.notes],
            }
            for target, ported in tree.files.items()
        ],
        "findings": [
            {
                "path": str(finding.path),
                "line": finding.line,
                "column": finding.column,
                "code": finding.code,
                "api": finding.api,
                "severity": finding.severity,
                "message": finding.message,
                "next_step": finding.next_step,
            }
            for finding in shown.findings
        ],
        "assumptions": [
            {
                "path": str(one.path),
                "line": one.line,
                "api": one.api,
                "assumption": one.what,
                "check": one.check,
                **({"cell": one.cell} if one.cell else {}),
            }
            for one in tree.coverage.assumptions
        ],
        "not_shown": shown.hidden,
    }
    return as_text(envelope("port", body, exit_code=shown.exit_code))


def _text(tree: PortedTree, output: Path | None, shown: Shown) -> str:
    stream = io.StringIO()
    for finding in shown.findings:
        stream.write(f"{finding.where}: {finding.code} {finding.message}\n")
        if finding.next_step:
            stream.write(f"    {finding.next_step}\n")
    if shown.findings:
        stream.write("\n")
    noted = [(one.source.path, note) for one in tree.files.values() for note in one.notes]
    stream.writelines(f"{path}:{line}: note: {text}\n" for path, (line, text) in noted)
    if tree.coverage.assumptions:
        words = listed_assumptions if shown.assumptions else named_assumptions
        stream.write(f"{words(tree.coverage)}\n")
    return printable(stream.getvalue() + _line(tree, output, shown) + "\n")


def _line(tree: PortedTree, output: Path | None, shown: Shown) -> str:
    """The one line that says how far it got."""
    numbers = _numbers(tree)
    stream = io.StringIO()
    left = len(shown.findings)
    place = f" to {output}" if output else ""
    files = f"{numbers['files']} file{'s' * (numbers['files'] != 1)}"
    stream.write(f"{files}{place}: {covered(tree.coverage)}")
    if tree.helpers:
        reasons = numbers["helper_reasons"]
        total = sum(reasons.values())
        counts = ", ".join(f"{count} {_HELPERS_FOR[why]}" for why, count in reasons.items())
        where = ", ".join(str(path) for path in tree.helpers)
        stream.write(f"; {total} helper{'s' * (total != 1)} in {where} ({counts})")
    if tree.scaffold:
        scripts = [str(path) for path in tree.scaffold if path.suffix == ".sh"]
        stream.write(f"; launch scripts {', '.join(scripts)}")
    stream.write(f"; {open_items(left)}")
    if shown.hidden:
        stream.write(f" ({shown.hidden})")
    return stream.getvalue()
