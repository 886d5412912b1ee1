"""What counts: codes, comments, a baseline, excluded files; and what is left out is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.selection.exclude import excluded
from migrate.selection.inline import Suppressions

SOURCE = """import torch

a = torch.fft.fft2(torch.ones(2, 2), norm="ortho", s=[1, 2], dim=(0, 1), out=None)
b = torch.nonesuch(1)
c = torch.neither(2)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "net.py"
    path.write_text(SOURCE)
    return path


def _codes(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[tuple[str, int]]]:
    code = main(["port", "net.py", "--check", "--format", "json", *words])
    document = json.loads(capsys.readouterr().out)
    assert document["exit_code"] == code
    return code, [(one["code"], one["line"]) for one in document["findings"]]


def test_select_and_ignore_by_prefix_and_name(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = _codes(capsys)
    assert code == 1
    assert {line for _, line in found} >= {4, 5}
    assert _codes(capsys, "--ignore", "MS3") == (0, [])
    assert _codes(capsys, "--ignore", "MS30,MS31") == (0, [])
    assert _codes(capsys, "--select", "MS4") == (0, [])
    assert _codes(capsys, "--select", "all") == (code, found)
    assert main(["port", "net.py", "--check", "--select", "MS9"]) == 2
    assert main(["port", "net.py", "--check", "--ignore", "missing-apo"]) == 2
    assert "did you mean missing-api?" in capsys.readouterr().err


def test_what_is_left_out_is_counted(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", "net.py", "--check", "--ignore", "MS"]) == 0
    assert "not shown: " in capsys.readouterr().out
    assert main(["analyze", "net.py", "--ignore", "MS", "-q"]) == 0
    assert "by --select or --ignore" in capsys.readouterr().out


def test_comments_in_the_source(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, before = _codes(capsys)
    lines = SOURCE.splitlines()
    lines[3] += "  # ms-migrate: ignore[MS303]"
    lines[4] += "  # ms-migrate: ignore"
    program.write_text("\n".join(lines) + "\n")
    _, after = _codes(capsys)
    assert after == [one for one in before if one[1] not in (4, 5)]
    program.write_text("# ms-migrate: ignore-file[MS303]\n" + SOURCE)
    _, after = _codes(capsys)
    assert "MS303" not in {code for code, _ in after}


def test_which_lines_a_comment_covers() -> None:
    found = Suppressions(
        "# ms-migrate: ignore[MS403]\nx = f(\n    1,\n    2)\n"
        "y = g(  # ms-migrate: ignore[ms3, MS404]\n    z)\nw = 'ms-migrate: ignore'\n"
    )
    assert [found.covers(line, "MS403") for line in range(1, 8)] == [
        *(False, True, True, True),
        *(False, False, False),
    ]
    assert found.covers(6, "MS307")
    assert found.covers(5, "MS404")
    assert not found.covers(6, "MS401")
    assert not found.covers(7, "MS307")


def test_a_baseline_covers_what_is_known(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", "net.py", "--check", "--write-baseline", "--baseline", "known.json"]) == 0
    capsys.readouterr()
    assert _codes(capsys, "--baseline", "known.json") == (0, [])
    # Lines above come and go; the same line once more is new.
    program.write_text("import os\n" + SOURCE + "c = torch.neither(2)\n")
    code, found = _codes(capsys, "--baseline", "known.json")
    assert (code, [line for _, line in found]) == (1, [7])
    Path("known.json").write_text("{}")
    assert main(["port", "net.py", "--check", "--baseline", "known.json"]) == 2
    assert "--write-baseline" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("count", "code"), [("1", 0), ("0", 1), ("-1", 1), ("1e999", 2), ('"x"', 2), ("[1]", 2)]
)
def test_a_crafted_baseline_covers_no_more_than_it_says(
    program: Path, count: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    known = program.with_name("known.json")
    main(["analyze", str(program), "--baseline", str(known), "--write-baseline"])
    known.write_text(known.read_text().replace('"count": 1', f'"count": {count}'))
    assert main(["analyze", str(program), "--baseline", str(known)]) == code


def test_exit_zero(program: Path) -> None:
    assert main(["analyze", "net.py", "-q"]) == 1
    assert main(["analyze", "net.py", "-q", "--exit-zero"]) == 0
    assert main(["analyze", "absent.py", "--exit-zero"]) == 2


def test_excluded_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert excluded(Path("src/third_party/a.py"), ["third_party"])
    assert excluded(Path("src/a_pb2.py"), ["*_pb2.py"])
    assert excluded(tmp_path / "src" / "old" / "a.py", ["src/old"])
    assert not excluded(Path("src/older/a.py"), ["src/old"])
    assert not excluded(Path("src/a.py"), ["b.py", "a"])


def test_exclude_leaves_the_others(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.py").write_text("import torch\nx = torch.ones(2)\n")
    assert main(["analyze", ".", "--exclude", "net.py", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["summary"]["files"] == 1
    assert main(["analyze", ".", "--exclude", "*.py"]) == 2
    assert "leaves no file" in capsys.readouterr().err


def test_github_commands(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["analyze", "net.py"], ["port", "net.py", "--check"]):
        assert main([*words, "--format", "github"]) == 1
        lines = capsys.readouterr().out.splitlines()
        assert any(line.startswith(("::warning file=net.py,line=4", "::error file=net.py,line=4"))
                   for line in lines)  # fmt: skip
        assert not lines[-1].startswith("::")
