"""Whatever goes wrong, a command ends with one message and an exit code that tells the kind."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from migrate import cli
from migrate.errors import RequestError, describe
from migrate.findings import make_finding
from migrate.printable import json_text, printable


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no message")


CASES = [
    (KeyError("x"), 3, "internal error: KeyError: 'x'"),
    (Unspeakable(), 3, "internal error: Unspeakable"),
    (RecursionError("deep"), 3, "internal error: RecursionError"),
    (StopIteration(), 3, "internal error: StopIteration"),
    (OSError(errno.ENOSPC, "No space left on device", "out/net.py"), 2, "out/net.py: no space"),
    (MemoryError(), 2, "ran out of memory"),
]


@pytest.mark.parametrize(("error", "code", "said"), CASES)
def test_any_exception_is_one_message(
    error: Exception,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(options: object) -> int:
        raise error

    monkeypatch.setattr("migrate.lookup.run", fail)
    assert cli.main(["lookup", "torch.nn.Conv2d"]) == code
    err = capsys.readouterr().err
    assert err.startswith("ms-migrate: ") and said in err
    assert "Traceback" not in err and len(err.splitlines()) <= 2
    for words in (["--debug", "lookup", "x"], ["lookup", "x", "--debug"]):
        assert cli.main(words) == code
        assert "Traceback" in capsys.readouterr().err


def test_sigterm_ends_a_command_in_order(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "import migrate.lookup\nfrom migrate import cli\n"
        "def run(options):\n"
        "    try:\n        Path(sys.argv[1], 'up').touch(); time.sleep(60)\n"
        "    finally:\n        Path(sys.argv[1], 'clean').touch()\n"
        "migrate.lookup.run = run\nsys.exit(cli.main(['lookup', 'x']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 20
    while not (tmp_path / "up").exists() and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 143 and (tmp_path / "clean").exists()
    assert err == "ms-migrate: ended by SIGTERM\n"


def test_unsafe_characters_are_shown_as_escapes() -> None:
    path = Path("a\x1b[2Jb\u202egnp\udcff\x9b.py")
    shown = make_finding("MS201", path, "x").where
    assert shown == "a\\x1b[2Jb\\u202egnp\\udcff\\x9b.py"
    assert printable("one\ttwo\nthree é 中文 🙂") == "one\ttwo\nthree é 中文 🙂"
    assert printable("a\nb", keep="") == "a\\x0ab"


@pytest.mark.parametrize(
    "command",
    [
        ["analyze"],
        *(
            ["analyze", "--format", form]
            for form in ("github", "markdown", "html", "json", "sarif")
        ),
        ["port", "--check"],
        ["port", "--check", "--format", "github"],
        ["port", "--diff"],
    ],
)
def test_file_names_cannot_write_to_the_terminal(
    tmp_path: Path,
    command: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = "import torch\nx = torch.fx.symbolic_trace(None)\n"
    folder = tmp_path / "tree"
    folder.mkdir()
    odd = ["evil\x1b]0;owned\x07\x1b[2J.py", os.fsdecode(b"raw\xff.py"), "line\nforged.py: 1.py"]
    for name in (*odd, "c1\x9b31m.py", "bidi\u202eyp.exe.py", "isolate\u2066.py", "back\x08.py"):
        (folder / name).write_text(source)
    (folder / "bad\x1b[31m.py").write_text("x = = \x1b[31m 1\n")
    monkeypatch.chdir(tmp_path)
    for path in (str(folder), "tree"):
        assert cli.main([command[0], path, *command[1:]]) == 1
        captured = capsys.readouterr()
        for text in (captured.out, captured.err):
            assert set("\x1b\x07\x08\x9b\u202e\u2066").isdisjoint(text)
            assert not any(line.startswith("forged.py") for line in text.splitlines())
            text.encode()


def test_json_holds_every_character_all_the_same() -> None:
    odd = {"a\x1b\x9b": ["\u202e\U000e0041\udcff\u2028", "one\ntwo\t é 中文 🙂"]}
    for options in ({}, {"indent": 2}):
        text = json_text(odd, **options)
        assert json.loads(text) == odd
        assert "中文 🙂" in text and printable(text, "\n") == text


def test_a_line_break_in_a_place_is_no_second_message() -> None:
    assert str(RequestError("no such file", where="a\nb.py")) == "a\\x0ab.py: no such file"


def test_a_message_that_is_too_long_or_cannot_be_read() -> None:
    assert len(describe(ValueError("x" * 10_000))) < 600
    assert describe(Unspeakable()) == "Unspeakable: <its message could not be read>"
    assert describe(ValueError()) == "ValueError"


def test_an_unencodable_stream_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A terminal in an old encoding shows escapes."""
    (tmp_path / "größe.py").write_text("import torch\nx = torch.fx.symbolic_trace(None)\n")
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    assert cli.main(["port", str(tmp_path), "--check"]) == 1
    stream.flush()
    assert b"gr\\xf6" in raw.getvalue()


@pytest.mark.parametrize("form", ["text", "json"])
def test_streams_that_are_closed_or_full(form: str, tmp_path: Path) -> None:
    source = tmp_path / "net.py"
    source.write_text("import torch\nx = torch.ones(3)\n")
    words = f"{sys.executable} -m migrate lookup torch.relu --no-config --format {form}"
    for ending, code in ((">&-", 0), ("2>&-", 0), (">/dev/full", 2), (">/dev/full 2>/dev/full", 2)):
        done = subprocess.run(
            ["sh", "-c", f"{words} {ending}"], capture_output=True, text=True, check=False
        )
        assert done.returncode == code, (ending, done.stderr)
        assert "Traceback" not in done.stderr and "Exception" not in done.stderr
        assert ("no space left" in done.stderr) == (ending == ">/dev/full")


def test_a_report_replaces_no_source_and_no_device(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "net.py"
    source.write_text("import torch\nx = torch.ones(3)\n")
    for words in (
        ["analyze", str(source), "--format", "html", "-o", str(source)],
        ["port", str(source), "-o", str(tmp_path / "out"), "--report", str(source)],
    ):
        assert cli.main(words) == 2
        assert "the report would replace it" in capfd.readouterr().err
    assert source.read_text().startswith("import torch") and not (tmp_path / "out").exists()
    link = tmp_path / "page.html"
    link.symlink_to("/dev/stdout")
    assert cli.main(["analyze", str(source), "--format", "html", "-o", str(link)]) == 0
    assert "<!doctype html>" in capfd.readouterr().out and link.is_symlink()
