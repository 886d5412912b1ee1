"""JSON and SARIF: stable fields, complete lists, and the structure that SARIF 2.1.0 demands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from migrate.analyze.model import Analysis, Place
from migrate.cli import main
from migrate.report import json_document, sarif

# The part of SARIF 2.1.0 that we write, stated strictly: nothing unknown, nothing missing.
MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
REGION = {
    "type": "object",
    "additionalProperties": False,
    "required": ["startLine"],
    "properties": {
        name: {"type": "integer", "minimum": 1}
        for name in ("startLine", "startColumn", "endLine", "endColumn")
    },
}
ARTIFACT = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "uri": {"type": "string", "pattern": r"^[^ \\]+$"},
        "uriBaseId": {"type": "string"},
    },
}
LOCATION = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "message": MESSAGE,
        "physicalLocation": {
            "type": "object",
            "additionalProperties": False,
            "required": ["artifactLocation"],
            "properties": {"artifactLocation": ARTIFACT, "region": REGION},
        },
        "logicalLocations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"fullyQualifiedName": {"type": "string"}},
            },
        },
    },
}
RULE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id"],
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string"},
        "shortDescription": MESSAGE,
        "defaultConfiguration": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"level": LEVEL},
        },
    },
}
REFERENCE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"id": {"type": "string"}, "index": {"type": "integer", "minimum": -1}},
}
RESULT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["message"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": -1},
        "level": LEVEL,
        "message": MESSAGE,
        "locations": {"type": "array", "items": LOCATION},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
NOTIFICATION = {
    "type": "object",
    "additionalProperties": False,
    "required": ["message"],
    "properties": {
        "message": MESSAGE,
        "level": LEVEL,
        "descriptor": REFERENCE,
        "associatedRule": REFERENCE,
        "locations": {"type": "array", "items": LOCATION},
    },
}
DRIVER = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "version": {"type": "string"},
        "semanticVersion": {"type": "string"},
        "rules": {"type": "array", "uniqueItems": True, "items": RULE},
    },
}
RUN = {
    "type": "object",
    "additionalProperties": False,
    "required": ["tool"],
    "properties": {
        "tool": {
            "type": "object",
            "additionalProperties": False,
            "required": ["driver"],
            "properties": {"driver": DRIVER},
        },
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "originalUriBaseIds": {"type": "object", "additionalProperties": ARTIFACT},
        "invocations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["executionSuccessful"],
                "properties": {
                    "executionSuccessful": {"type": "boolean"},
                    "toolExecutionNotifications": {"type": "array", "items": NOTIFICATION},
                },
            },
        },
        "results": {"type": "array", "items": RESULT},
        "properties": {"type": "object"},
    },
}
SARIF = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": RUN},
    },
}


@pytest.fixture
def log(analysis: Analysis) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(sarif.render(analysis))
    return document


def test_sarif_has_the_demanded_structure(log: dict[str, Any]) -> None:
    jsonschema.validate(log, SARIF)


def test_the_structure_check_can_fail(log: dict[str, Any]) -> None:
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(log, SARIF)


def test_sarif_rules_and_results_agree(log: dict[str, Any]) -> None:
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["MS205", "MS301", "MS302", "MS308", "MS401"]
    assert len(run["results"]) == 5
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert rules[notification["associatedRule"]["index"]]["id"] == "MS205"


def test_sarif_paths_are_uris(log: dict[str, Any]) -> None:
    location = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "pkg/net%20work.py", "uriBaseId": "SRCROOT"}
    assert location["region"] == {
        "startLine": 12,
        "startColumn": 5,
        "endLine": 12,
        "endColumn": 15,
    }
    base = log["runs"][0]["originalUriBaseIds"]["SRCROOT"]["uri"]
    assert base == Path.cwd().as_uri() + "/"


def test_sarif_of_an_absolute_path_needs_no_base(analysis: Analysis) -> None:
    analysis.actions[0].places = [Place("/some where/x.py", 1, 1, 0, "", 1, 2)]
    location = sarif.document(analysis)["runs"][0]["results"][0]["locations"][0]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "file:///some%20where/x.py"}


def test_sarif_of_a_notebook_has_no_region(log: dict[str, Any]) -> None:
    (location,) = [
        result["locations"][0]
        for result in log["runs"][0]["results"]
        if "ipynb" in json.dumps(result)
    ]
    assert "region" not in location["physicalLocation"]
    assert location["message"]["text"] == "cell 2, line 4"


def test_json_is_versioned_and_complete(analysis: Analysis) -> None:
    document = json.loads(json_document.render(analysis))
    assert (document["schema"], document["version"]) == ("ms-migrate/analyze", 1)
    assert list(document) == [
        "schema",
        "version",
        "tool",
        "exit_code",
        "error",
        "options",
        "summary",
        "operators",
        "features",
        "actions",
        "files",
        "assumptions",
        "skipped",
    ]
    assert document["summary"]["share"] == round(9 / 13, 4)
    assert document["summary"]["unknown_receivers"] == 1
    conv = document["operators"][0]
    assert conv["torch"] == "torch.nn.Conv2d" and len(conv["places"]) == conv["count"] == 8
    assert document["operators"][2]["modes"] == []
    assert document["operators"][1]["places"][1]["cell"] == 2
    assert document["skipped"][0]["code"] == "MS205"


FIELDS = Path(__file__).parent.parent.parent / "docs" / "json_schema.md"


def test_every_json_field_is_documented(analysis: Analysis) -> None:
    text = FIELDS.read_text(encoding="utf-8")

    def names(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {key for key in value if key.isidentifier()}
            return own.union(*map(names, value.values()))
        if isinstance(value, list):
            return set().union(*map(names, value))
        return set()

    document = json_document.document(analysis)
    document["features"][0]["members"] = {}
    document["summary"]["by_status"] = {}
    assert sorted(name for name in names(document) if f"`{name}`" not in text) == []


def test_a_page_over_two_folders_shows_places_from_their_common_parent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("nets/one.py", "tools/two.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("import torch\n\nx = torch.ones(3)\n")
    main(["analyze", str(tmp_path / "nets"), str(tmp_path / "tools"), "--format", "html"])
    page = capsys.readouterr().out
    assert f"project: {tmp_path}<" in page
    assert "<code>nets/one.py</code>" in page and "<code>tools/two.py</code>" in page
    assert f">{tmp_path}/nets/one.py" not in page
