"""An analysis as a list of findings: what the reports by line (GitHub, editors) show."""

from __future__ import annotations

from pathlib import Path

from migrate.analyze.model import Action, Analysis
from migrate.findings import Finding, in_order


def findings_of(analysis: Analysis, *, due_only: bool = False) -> list[Finding]:
    """Actions place by place, or those alone that a person must act on; and what was not read."""
    found = [
        Finding(
            Path(place.path),
            place.line,
            place.column,
            action.code,
            _message(action),
            action.step,
            action.level,
            place.cell,
            action.api,
        )
        for action in analysis.actions
        if action.due or not due_only
        for place in action.places
    ]
    return in_order([*found, *analysis.skipped])


def _message(action: Action) -> str:
    if not action.why or action.why.startswith(f"{action.title}:"):
        return action.why or action.title
    return f"{action.title}: {action.why}"
