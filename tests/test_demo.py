"""The demo types the real commands, in order, and stops where one cannot be carried out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from migrate import cli, demo


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    words: list[list[str]] = []

    def main(arguments: list[str]) -> int:
        words.append(arguments)
        return 1 if arguments[0] == "port" else 0

    monkeypatch.setattr(demo, "find_spec", lambda name: object())
    monkeypatch.setattr(cli, "main", main)
    return words


def options(**given: object):
    import argparse

    return argparse.Namespace(
        **{"output": None, "device": "CPU", "quiet": True, "format": "text", **given}
    )


def test_the_whole_way_and_the_worst_exit_code(
    typed: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert demo.run(options()) == 1
    assert [words[0] for words in typed] == ["analyze", "analyze", "port", "parity"]
    assert typed[3][2].endswith("ported/resnet.py:resnet18")


def test_an_earlier_port_is_not_overwritten(
    typed: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ported").mkdir()
    with pytest.raises(demo.RequestError, match="exists"):
        demo.run(options(output=tmp_path))
    assert typed == []


def test_without_the_frameworks_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    assert cli.main(["demo"]) == 2
    assert "torch and mindspore" in capsys.readouterr().err


def test_the_reports_are_kept_and_an_earlier_demo_stays(
    typed: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    demo.run(options())
    demo.run(options())
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "ms-migrate-demo",
        "ms-migrate-demo-2",
    ]
    assert typed[3][-1] == "ms-migrate-demo/parity.html"


def test_json_names_the_commands_and_what_they_left(
    typed: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "port.html").write_text("")
    assert demo.run(options(output=tmp_path, format="json")) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["schema"], said["exit_code"]) == ("ms-migrate/demo", 1)
    assert said["reports"] == {"port": str(tmp_path / "port.html")}
    assert [(one["command"][1], one["exit_code"]) for one in said["commands"]] == [
        *(("analyze", 0), ("analyze", 0), ("port", 1), ("parity", 0)),
    ]


def test_an_internal_error_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: list[list[str]]
) -> None:
    monkeypatch.setattr(cli, "main", lambda words: 3)
    assert demo.run(options(output=tmp_path / "out")) == 3
