"""Findings as GitHub workflow commands, which a job's log shows beside the changed lines."""

from __future__ import annotations

import os
from collections.abc import Iterable

from migrate.analyze.model import Analysis
from migrate.findings import Finding
from migrate.printable import printable

# Only what a person must act on comes here: a note among it is a warning.
_LEVELS = {"error": "error", "warning": "warning", "note": "warning"}


def render(findings: Iterable[Finding], summary: str) -> str:
    """One command a finding; the last line is for people."""
    lines = [_command(finding) for finding in findings]
    return "\n".join([*lines, summary]) + "\n"


def _command(finding: Finding) -> str:
    fields = {"file": os.path.relpath(finding.path)}
    if finding.line and not finding.cell:
        fields["line"] = str(finding.line)
        if finding.column:
            fields["col"] = str(finding.column)
    fields["title"] = f"{finding.code} {finding.api}".strip()
    named = ",".join(f"{name}={_property(value)}" for name, value in fields.items())
    step = f"; {finding.next_step}" if finding.next_step else ""
    cell = f"cell {finding.cell}, line {finding.line}: " if finding.cell else ""
    return f"::{_LEVELS[finding.severity]} {named}::{_text(cell + finding.message + step)}"


def _text(value: str) -> str:
    value = printable(value, keep="\r\n\t")
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _text(value).replace(":", "%3A").replace(",", "%2C")


def of_analysis(analysis: Analysis) -> list[Finding]:
    """What is to be done, place by place; notes ask for nothing."""
    from migrate.report.findings_of import findings_of

    return findings_of(analysis, due_only=True)
