"""The analysis as one HTML file: no scripts to fetch, no fonts, readable in any browser."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from migrate.analyze.model import LEVELS, Action, Analysis, Feature, Operator
from migrate.printable import printable
from migrate.report import words
from migrate.report.pages import facts, render_page


def render(analysis: Analysis, base: Path | None = None) -> str:
    """One page: the share first, then what to do, then the tables it follows from."""
    coverage = analysis.coverage
    operators = [_operator(row, analysis) for row in words.shown_operators(analysis)]
    # What belongs to a feature is counted there: the legend speaks of the rows below it.
    counts: Counter[str] = Counter()
    for row in operators:
        counts[row["status"]] += len(row["places"])
    project = _project(analysis)
    return render_page(
        "analyze.html",
        base=base,
        filters={"place": lambda place: _below(printable(str(place), keep=""), project)},
        title="PyTorch to MindSpore",
        lead=words.summary(analysis),
        facts=facts(project),
        coverage=coverage,
        percent=int(100 * coverage.share) if coverage and coverage.open else 100,
        open_items=analysis.open_items,
        files=analysis.files,
        lines=analysis.lines,
        due=[_group(group) for group in words.due(analysis)],
        notes=[_group(group) for group in words.notes(analysis)],
        by_file=analysis.by_file,
        statuses=[(name, counts[name]) for name in LEVELS if name in counts],
        operators=operators,
        device=analysis.options.device,
        features=[_feature(row) for row in words.shown_features(analysis)],
        skipped=[printable(str(finding)) for finding in analysis.skipped],
    )


def _project(analysis: Analysis) -> str:
    paths = [row.path for row in analysis.by_file] or [
        place.path for row in analysis.operators for place in row.places
    ]
    parents = {str(Path(path).parent) for path in paths}
    try:
        return os.path.commonpath(parents) or "." if parents else "."
    except ValueError:  # absolute and relative ones: nothing is common to them
        return min(parents, key=len)


def _below(place: str, project: str) -> str:
    """The place as seen from the project, where its absolute path was given."""
    prefix = project.rstrip(os.sep) + os.sep
    return place.removeprefix(prefix) if os.path.isabs(project) else place


def _group(group: Sequence[Action]) -> dict[str, Any]:
    first = group[0]
    return {
        "titles": [action.title for action in group],
        "code": first.code,
        "severity": first.severity,
        "mode": first.mode,
        "text": words.joined((first.why, first.step)),
        "places": words.all_places(group),
    }


def _operator(row: Operator, analysis: Analysis) -> dict[str, Any]:
    from migrate.table.reference_pages import reference

    return {
        "api": row.api,
        "target": words.target(row),
        "reference": reference(row.entry) if row.entry else "",
        "status": row.status,
        "note": row.entry.note if row.entry else "",
        "troubled": row.troubled,
        "runs": [*words.modes(row), words.device(row, analysis.options.device)],
        "places": row.places,
    }


def _feature(row: Feature) -> dict[str, Any]:
    return {
        "heading": words.heading(row),
        "members": words.members(row),
        "status": row.status,
        "places": row.places,
    }
