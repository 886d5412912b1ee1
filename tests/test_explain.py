"""Every code of a finding is explained; the page in docs is current; misspellings are answered."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from migrate import cli, explain
from migrate.findings import CODES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "findings.md"


def page() -> str:
    """docs/findings.md, as `python -m tests.test_explain` writes it."""
    parts = [
        "# Findings",
        "",
        "Every code that `analyze` and `port` report, as `ms-migrate explain` tells it.",
    ]
    for one in explain.explanations().values():
        parts += [
            "",
            f"## {one.code} {one.name}",
            "",
            f"{one.summary} ({one.severity})",
            "",
            one.why,
        ]
        if one.example:
            parts += ["", "```text", one.example, "```"]
        parts += ["", f"**What to do.** {one.do}"]
    return "\n".join(parts) + "\n"


def test_every_code_is_explained_and_nothing_else() -> None:
    told = tomllib.loads(explain._FILE.read_text(encoding="utf-8"))
    assert set(told) == set(CODES)
    assert all(facts["why"] and facts["do"] for facts in told.values())


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.test_explain`"


def test_a_code_or_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "ms307"]) == 0
    by_code = capsys.readouterr().out
    assert cli.main(["explain", "unknown-receiver"]) == 0
    assert capsys.readouterr().out == by_code
    assert "thing.size(0)" in by_code and "What to do: Annotate" in by_code


def test_all_codes_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "--format", "json"]) == 0
    assert {one["code"] for one in json.loads(capsys.readouterr().out)["findings"]} == set(CODES)


def test_a_misspelt_code_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "MS3077"]) == 2
    assert "did you mean MS307?" in capsys.readouterr().err


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
