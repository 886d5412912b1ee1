"""From the reports of single files to the one answer: operators, features, actions, the share."""

from __future__ import annotations

from collections.abc import Iterable

from migrate.analyze.actions import Actions
from migrate.analyze.groups import GROUPS, group_of
from migrate.analyze.model import (
    LEVELS,
    Analysis,
    Feature,
    FileReport,
    Operator,
    Options,
    Sign,
    Use,
)
from migrate.findings import Finding, in_order
from migrate.table import Table

_SIGN_STATUS = {"note": "rewritten", "warning": "risky", "error": "missing"}


def summarise(
    reports: Iterable[FileReport], skipped: list[Finding], table: Table, options: Options
) -> Analysis:
    """Reads the reports one by one, so that a large tree is never held as syntax."""
    analysis = Analysis(options, [], [], [], [])
    operators: dict[tuple[str, bool], Operator] = {}
    features: dict[str, Feature] = {}
    actions = Actions(table)
    problems = list(skipped)
    for report in reports:
        if report.problem is not None:
            problems.append(report.problem)
            continue
        analysis.files += 1
        analysis.torch_files += report.torch
        analysis.lines += report.lines
        for use in report.uses:
            _count(analysis, operators, use, table)
            _feature_of_use(features, use, table)
            actions.of_use(use)
        for sign in report.signs:
            _feature_of_sign(features, sign)
            actions.of_sign(sign)
    analysis.operators = sorted(operators.values(), key=lambda row: (row.unknown, row.api))
    order = list(GROUPS)
    analysis.features = sorted(features.values(), key=lambda row: order.index(row.name))
    analysis.actions = actions.in_order()
    analysis.skipped = in_order(problems)
    analysis.by_status = {
        level: analysis.by_status[level] for level in LEVELS if level in analysis.by_status
    }
    return analysis


def _count(
    analysis: Analysis, operators: dict[tuple[str, bool], Operator], use: Use, table: Table
) -> None:
    unknown = use.form == "unknown"
    entry = table.get(use.api)
    row = operators.get((use.api, unknown))
    if row is None:
        group = group_of(use.api, entry)
        row = Operator(use.api, entry, unknown=unknown, group=group if group in GROUPS else "")
        operators[use.api, unknown] = row
    row.places.append(use.place)
    if unknown:
        return  # it may not be torch at all, so it counts neither way
    row.troubled += bool(use.code)
    analysis.uses += 1
    analysis.by_status[row.status] = analysis.by_status.get(row.status, 0) + 1
    analysis.automatic += not use.code


def _feature_of_use(features: dict[str, Feature], use: Use, table: Table) -> None:
    if use.form in ("unknown", "annotation"):
        return
    entry = table.get(use.api)
    group = group_of(use.api, entry)
    if group not in GROUPS:
        return
    status = entry.status if entry else "unlisted"
    row = features.setdefault(group, Feature(group, status))
    row.status = max(row.status, status, key=LEVELS.index)
    name = use.api.rpartition(".")[2]
    row.members[name] = row.members.get(name, 0) + 1
    row.places.append(use.place)


def _feature_of_sign(features: dict[str, Feature], sign: Sign) -> None:
    status = _SIGN_STATUS[sign.severity]
    if sign.feature == "control flow" and sign.severity == "note":
        status = "supported"  # mentioned because it is often feared, though it compiles
    row = features.setdefault(sign.feature, Feature(sign.feature, status))
    row.status = max(row.status, status, key=LEVELS.index)
    row.members[sign.what] = row.members.get(sign.what, 0) + 1
    row.places.append(sign.place)
