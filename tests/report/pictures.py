"""Make the pictures of the READMEs anew, from pages of the bundled programs, and parity's output.

python -m tests.report.pictures    # some minutes: it runs both frameworks, and a browser
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from migrate.cli import main
from tests.report.browser import MISSING, browser

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
STAGES = re.compile(r"^pynative mode\n(?:  .*\n)+", re.MULTILINE)
MODELS = [f"{ROOT / folder / 'resnet.py'}:resnet18" for folder in ("reference_pt", "ported_ms")]


def take(pages: dict[str, tuple[Path, str]]) -> None:
    """A picture of each page, from the heading on that holds a text."""
    with browser() as window:
        for name, (page, heading) in pages.items():
            window.open(page, 1240, 720)
            window.run(
                "const found = [...document.querySelectorAll('h1, h2')]"
                f".find(one => one.textContent.includes({heading!r}));"
                "window.scrollTo(0, found.getBoundingClientRect().top - 16)"
            )
            window.screenshot(IMAGES / f"{name}.png")


def show_output(text: str) -> None:
    """The stages of parity, as they were printed, into both READMEs."""
    stages = STAGES.search(text)
    assert stages, text
    for name in ("README.md", "README.zh-CN.md"):
        path = ROOT / name
        shown = path.read_text(encoding="utf-8")
        path.write_text(STAGES.sub(lambda _: stages[0], shown), encoding="utf-8")


def make() -> int:
    if MISSING:
        print(MISSING)
        return 2
    with tempfile.TemporaryDirectory() as name:
        port, parity = Path(name, "port.html"), Path(name, "parity.html")
        main(["port", str(ROOT / "reference_pt" / "resnet.py"), "--check", "--report", str(port)])
        words = ["parity", *MODELS, "--input", "4,3,32,32", "--classes", "1000"]
        printed = io.StringIO()
        with redirect_stdout(printed):
            main([*words, "--mode", "pynative", "--report", str(parity)])
        show_output(printed.getvalue())
        take({"port": (port, "resnet.py"), "parity": (parity, "Every layer")})
    return 0


if __name__ == "__main__":
    sys.exit(make())
