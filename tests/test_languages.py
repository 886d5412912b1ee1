"""Findings in Chinese: every code has its words, names stay as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.explain.languages import told
from migrate.findings import CODES


def test_every_code_is_told() -> None:
    found = told("zh")
    assert set(found) == set(CODES)
    for code, texts in found.items():
        for text in texts:
            assert any("\u4e00" <= letter <= "\u9fff" for letter in text), code
            assert text.endswith("。"), code
    assert told("en") == {}


def test_commands_speak_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.py"
    path.write_text("import torch\nx = torch.nonesuch()\n")
    wanted = told("zh")["MS303"]
    for words in (["analyze", str(path)], ["port", str(path), "--check"], ["explain", "MS303"]):
        main([*words, "--lang", "zh"])
        shown = "".join(capsys.readouterr().out.split())
        assert wanted.summary.replace(" ", "") in shown
        assert wanted.do.replace(" ", "") in shown
    main(["explain", "MS303", "--lang", "zh"])
    shown = capsys.readouterr().out
    assert wanted.why in shown and f"处理方法：{wanted.do}" in shown and "What to do" not in shown
    main(["port", str(path), "--check", "--lang", "zh", "--format", "json"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert "torch.nonesuch" in finding["message"] + finding["api"]
