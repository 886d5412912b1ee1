"""The analysis as SARIF 2.1.0, which code hosts and editors show beside the source."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from migrate import __version__
from migrate.analyze.model import Action, Analysis, Place
from migrate.findings import CODES, Finding
from migrate.printable import json_text
from migrate.report import words

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(analysis: Analysis) -> str:
    return json_text(document(analysis), indent=2) + "\n"


def document(analysis: Analysis) -> dict[str, Any]:
    codes = sorted(
        {action.code for action in analysis.actions} | {f.code for f in analysis.skipped}
    )
    index = {code: position for position, code in enumerate(codes)}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "ms-migrate",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(code) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"uri": Path.cwd().as_uri() + "/"}},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [_notification(f, index) for f in analysis.skipped],
            }
        ],
        "results": [
            _result(action, place, index) for action in analysis.actions for place in action.places
        ],
        "properties": {"share": round(analysis.share, 4), "summary": words.summary(analysis)},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    rule = CODES[code]
    return {
        "id": code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(action: Action, place: Place, index: dict[str, int]) -> dict[str, Any]:
    text = words.joined((action.why, action.step))
    if not text.startswith(f"{action.title}:"):
        text = f"{action.title}: {text}"
    return {
        "ruleId": action.code,
        "ruleIndex": index[action.code],
        "level": action.level,
        "message": {"text": text},
        "locations": [_location(place)],
        # Lines move; the same finding in the same function is the same finding.
        "partialFingerprints": {"ms-migrate/v1": f"{action.code}:{action.title}:{place.scope}"},
    }


def _location(place: Place) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": _artifact(place.path)}}
    if place.cell:
        # A cell's lines are not lines of the file, so there is no region to point to.
        location["message"] = {"text": f"cell {place.cell}, line {place.line}"}
    else:
        location["physicalLocation"]["region"] = {
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
        }
    if place.scope:
        location["logicalLocations"] = [{"fullyQualifiedName": place.scope}]
    return location


def _artifact(path: str) -> dict[str, Any]:
    if os.path.isabs(path):
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(os.fsencode(path.replace(os.sep, "/"))), "uriBaseId": "SRCROOT"}


def _notification(finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": _artifact(str(finding.path))}
    if finding.line and not finding.cell:
        location["region"] = {"startLine": finding.line}
        if finding.column:
            location["region"]["startColumn"] = finding.column
    return {
        "descriptor": {"id": finding.code},
        "associatedRule": {"id": finding.code, "index": index[finding.code]},
        "level": finding.severity,
        "message": {"text": str(finding)},
        "locations": [{"physicalLocation": location}],
    }
