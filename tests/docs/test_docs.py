"""The documentation: generated pages are fresh, the site builds strictly, nothing shown is dead."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from ms_migrate import port_source

from migrate import cli
from tests.docs.pages import FOLDER, PAGES

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = sorted(
    path
    for path in (*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "zh").glob("*.md"))
    if path.name not in ("findings.md", "graph_limits.md")
)
SHOWN = re.compile(r"^(?:\$ )?(ms-migrate [a-z]+[^\n#|`]*)", re.MULTILINE)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_generated_pages_are_fresh(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    made = PAGES[name]()
    assert (FOLDER / name).read_text("utf-8") == made, "run python -m tests.docs.pages"


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_the_pages_parse(path: Path) -> None:
    """Every command that a page shows is one that the parser takes."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in SHOWN.findall(text):
        words = re.split(r" {2,}(?=\w)", line.rstrip())[0]  # what follows says what it does
        if "..." in words or "|" in words:
            continue
        typed = shlex.split(words.partition(" < ")[0].partition(" > ")[0].partition(" -- ")[0])[1:]
        if typed[0] not in cli.COMMANDS or len(typed) < 2:
            continue
        parser, _ = cli.build_parser(typed[0])
        try:
            _, unknown = parser.parse_known_args(typed)
        except SystemExit:
            pytest.fail(f"{path.name}: {words}")
        assert unknown == [], f"{path.name}: {words}"


def _printed(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "migrate", *words],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "110", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.strip("\n")


def _shown(page: str, command: str) -> str:
    """What a page shows below a command, as far as it shows it."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    start = text.index("\n", text.index(f"$ ms-migrate {command}")) + 1
    return text[start : text.index("\n```", start)].removeprefix("...\n")


def test_the_walk_through_shows_what_the_commands_print(tmp_path: Path) -> None:
    settings = ["parity", "--hyperparameters", "reference_pt/train.py", "ported_ms/train.py"]
    assert _shown("migrating_resnet50.md", " ".join(settings)) == _printed(*settings)
    out = str(tmp_path / "out")
    ported = _printed("port", "reference_pt", "-o", out, "--scaffold")
    for page in ("migrating_resnet50.md", "training.md"):
        shown = _shown(page, "port reference_pt -o ported_ms --scaffold")
        assert shown == ported.splitlines()[-1].replace(out, "ported_ms")
    # `analyze` counts what `port` counts.
    counts = _shown("migrating_resnet50.md", "analyze reference_pt").partition(";")[0]
    assert counts in ported


BLOCK = re.compile(r"^```\w+\n.*?^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["migrating_resnet50.md", "troubleshooting.md"])
def test_the_chinese_page_has_what_the_english_one_has(name: str) -> None:
    """The same outputs, as many headings, as many rows in each table."""
    english, chinese = ((ROOT / "docs" / one / name).read_text("utf-8") for one in (".", "zh"))
    if name == "migrating_resnet50.md":
        assert BLOCK.findall(chinese) == BLOCK.findall(english)
    for mark in ("\n## ", "\n### "):
        assert chinese.count(mark) == english.count(mark)
    rows = [page.count("\n|") for page in (english, chinese)]
    assert rows[0] <= rows[1]


def test_the_marker_that_the_guide_shows_is_the_one_that_is_written() -> None:
    found = port_source("import torch\ndef f(thing):\n    return thing.size()\n", name="f.py")
    marker = next(line.strip() for line in found.text.splitlines() if "# ms-migrate" in line)
    assert marker in (ROOT / "docs" / "port.md").read_text(encoding="utf-8")


def test_the_site_builds_strictly(tmp_path: Path) -> None:
    if find_spec("mkdocs") is None or find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed: pip install 'ms-migrate[dev]'")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "zh" / "index.html").is_file()
