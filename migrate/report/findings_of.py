"""An analysis as a list of findings: what the reports by line (GitHub, editors) show."""

from __future__ import annotations

from pathlib import Path

from migrate.analyze.model import Analysis
from migrate.findings import Finding, in_order


def findings_of(analysis: Analysis) -> list[Finding]:
    """Actions place by place, and what could not be read."""
    found = [
        Finding(
            Path(place.path),
            place.line,
            place.column,
            action.code,
            f"{action.title}: {action.why}" if action.why else action.title,
            action.step,
            action.severity,
            place.cell,
            action.api,
        )
        for action in analysis.actions
        for place in action.places
    ]
    return in_order([*found, *analysis.skipped])
