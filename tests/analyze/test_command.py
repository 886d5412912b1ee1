"""The command as a user meets it: exit codes, streams, files, and one clear line for bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.table import Table

GOOD = "import torch\nfrom torch import nn\nlayer = nn.ReLU()\n"


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.py"
    path.write_text(GOOD)
    return path


def analyze(*arguments: object) -> int:
    return main(["analyze", *map(str, arguments)])


ALL = "1 of 1 uses of torch ported (100%), all by rows measured against torch; no open items."


def test_everything_ports(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyze(good) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[-1] == ALL
    assert "nn.ReLU" in out and "good.py:3" in out


def test_someone_must_act(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good.write_text(GOOD + "torch.no_such_thing()\n")
    assert analyze(good) == 1
    out, _ = capsys.readouterr()
    assert "torch.no_such_thing  MS303  good.py:4" in out
    assert "1 of 2 uses of torch ported (50%)" in out


def test_no_torch_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plain.py").write_text("print('hello')\n")
    assert analyze(tmp_path) == 0
    assert "Nothing to port: no torch API is used." in capsys.readouterr().out


def test_quiet_leaves_the_summary(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyze(good, "--quiet") == 0
    assert capsys.readouterr().out == f"{ALL}\n"


BAD = {
    "missing": ("nothing.py", None, "does not exist"),
    "syntax": ("bad.py", b"import torch\nx = (1\n", "bad.py:2:5: is not valid Python: '(' was"),
    "python 2": ("bad.py", b"import torch\nprint 'x'\n", "bad.py:2:1: is Python 2 source"),
    "encoding": ("bad.py", b"import torch\n# caf\xe9\n", "bad.py:2: byte 0xe9 is not utf-8"),
    "not python": ("readme.md", b"torch", "is not Python source"),
    "huge": ("huge.py", b"#" * 50_000_000, "has 50 MB"),
    "notebook": ("bad.ipynb", b"{torch", "is not a Jupyter notebook"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_alone_is_exit_2_and_one_line(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, content, expected = BAD[case]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert analyze(tmp_path / name) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("ms-migrate: ") and expected in err


@pytest.mark.parametrize("case", BAD)
def test_bad_input_beside_good_is_a_finding(
    case: str, good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, content, expected = BAD[case]
    bad = good.parent / name
    if content is not None:
        bad.write_bytes(content)
    assert analyze(good, bad) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert "1 of 1 uses of torch ported (100%)" in out
    (line,) = [line for line in out.splitlines() if expected in line]
    assert "[MS" in line


def test_directory_without_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyze(tmp_path) == 2
    assert "holds no Python source" in capsys.readouterr().err


def test_symlink_loop_beside_good(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (good.parent / "up").symlink_to(good.parent, target_is_directory=True)
    assert analyze(good.parent) == 1
    assert "is a link to a directory above it" in capsys.readouterr().out


def test_declared_encoding_is_honoured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "# coding: latin-1\nimport torch.nn as nn\n'é'; nn.ReLU()\n"
    (tmp_path / "latin.py").write_bytes(text.encode("latin-1"))
    assert analyze(tmp_path, "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    (place,) = document["operators"][0]["places"]
    assert (place["line"], place["column"]) == (3, 6)


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("report.json", "{"),
        ("report.sarif", '{\n  "$schema"'),
        ("report.md", "# PyTorch to MindSpore"),
        ("report.html", "<!doctype html>"),
        ("report.txt", "1 file, 3 lines"),
    ],
)
def test_output_file_has_the_format_of_its_ending(
    name: str, start: str, good: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = good.parent / name
    assert analyze(good, "-o", target) == 0
    out, err = capsys.readouterr()
    assert out == "" and err == f"ms-migrate: wrote {target}\n"
    assert target.read_text().startswith(start)
    assert [path.name for path in good.parent.iterdir() if path.name.startswith(".")] == []


def test_output_that_cannot_be_written(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyze(good, "-o", good.parent / "no" / "report.json") == 2
    assert "its directory does not exist" in capsys.readouterr().err
    assert analyze(good, "-o", good.parent) == 2
    assert "is a directory" in capsys.readouterr().err


def test_jobs_must_be_a_number(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for bad in ("0", "many", "-1", "1000"):
        with pytest.raises(SystemExit) as stopped:
            analyze(good, f"--jobs={bad}")
        assert stopped.value.code == 2
    assert "not a number of processes" in capsys.readouterr().err


def test_neither_framework_is_imported(good: Path) -> None:
    code = (
        "import sys; from migrate.cli import main; main(sys.argv[1:]); "
        "print([m for m in ('torch', 'mindspore', 'numpy', 'libcst') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "analyze", str(good), "--quiet", "--quick"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_mistake_in_the_table_is_said_once(
    good: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = good.parent / "mappings"
    folder.mkdir()
    (folder / "torch.nn.toml").write_text('[[api]]\ntorch = "torch.nn.ReLU"\nknid = "class"\n')
    monkeypatch.setattr("migrate.commands.analyze.Table", lambda version: Table(folder))
    assert analyze(good) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("unknown keys ['knid']") == 1
