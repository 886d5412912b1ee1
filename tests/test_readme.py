"""What the READMEs show is what the commands print; `make docs` writes it anew."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs import measured

CHECKOUT = Path(__file__).resolve().parent.parent
READMES = ("README.md", "README.zh-CN.md")
SHOWING = (*READMES, "docs/analyze.md", "docs/troubleshooting.md")
# One command and its output; the output of doctor depends on the machine and is only refreshed.
BLOCK = re.compile(r"^```console\n\$ (ms-migrate (?:\w+).*)\n((?:(?!```).*\n)*)```$", re.MULTILINE)


def output(command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "migrate", *shlex.split(command)[1:]],
        cwd=CHECKOUT,
        env={**os.environ, "COLUMNS": "110", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.rstrip("\n") + "\n"


def blocks(name: str) -> list[tuple[str, str]]:
    return BLOCK.findall((CHECKOUT / name).read_text(encoding="utf-8"))


def test_what_is_shown() -> None:
    shown = {command.split()[1] for name in SHOWING for command, _ in blocks(name)}
    assert shown >= {"analyze", "port", "lookup", "doctor"}


@pytest.mark.parametrize("name", SHOWING)
def test_every_shown_output_is_real(name: str) -> None:
    shown = blocks(name)
    assert shown
    for command, text in shown:
        if command.split()[1] != "doctor":
            assert text == output(command), f"`{command}` prints something else: run `make docs`"


def test_the_time_of_the_tests_is_told_once() -> None:
    """In two languages and four files, and the same everywhere."""
    told = {
        minutes
        for name in ("README.md", "README.zh-CN.md", "CONTRIBUTING.md", "Makefile")
        for line in (CHECKOUT / name).read_text(encoding="utf-8").splitlines()
        for minutes in re.findall(r"(\d+) (?:minutes on two cores|分钟)", line)
    }
    assert len(told) == 1


def test_both_languages_show_the_same_commands() -> None:
    english, chinese = (blocks(name) for name in READMES)
    assert english == chinese


@pytest.mark.parametrize("name", list(measured.PAGES))
def test_every_shown_number_is_that_of_the_results(name: str) -> None:
    shown = (CHECKOUT / name).read_text(encoding="utf-8")
    assert shown == measured.renewed(name), "run `make docs`"


def refresh() -> None:
    """Run every command once and put its output, and the results' numbers, into the files."""
    measured.write()
    printed: dict[str, str] = {}
    for name in SHOWING:
        path = CHECKOUT / name
        text = path.read_text(encoding="utf-8")
        for command, _ in BLOCK.findall(text):
            printed.setdefault(command, output(command))
        path.write_text(
            BLOCK.sub(lambda block: f"```console\n$ {block[1]}\n{printed[block[1]]}```", text),
            encoding="utf-8",
        )


if __name__ == "__main__":
    refresh()
