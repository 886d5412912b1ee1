"""Pages that are made from the program: the commands and all their options.

python -m tests.docs.pages
"""

from __future__ import annotations

import io
import os
import re
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from migrate import cli
from migrate.command_line.examples import EXAMPLES

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "commands"
GUIDES = {
    "analyze": "analyze.md",
    "lookup": "analyze.md",
    "port": "port.md",
    "parity": "parity.md",
    "capture": "parity.md",
    "compare": "parity.md",
    "weights": "weights.md",
    "verify": "verify.md",
    "preflight": "preflight.md",
    "explain": "findings.md",
    "mcp": "automation.md",
    "skill": "automation.md",
    "completion": "configuration.md",
    "demo": "index.md",
    "doctor": "troubleshooting.md",
}


def overview() -> str:
    rows = [
        f"| [`{name}`](options.md#{name}) | {summary} | [guide](../{GUIDES[name]}) |"
        for name, (_, summary) in cli.COMMANDS.items()
    ]
    parts = ["# Commands", "", "Made by `python -m tests.docs.pages`.", ""]
    parts += ["| command | what it does | |", "|---|---|---|", *rows]
    for name, examples in EXAMPLES.items():
        lines = "\n".join(f"$ ms-migrate {words}    # {what}" for words, what in examples)
        parts += ["", f"## {name}", "", f"```console\n{lines}\n```"]
    return "\n".join(parts) + "\n"


def options() -> str:
    os.environ["COLUMNS"] = "100"
    parts = ["# All options", "", "Made by `python -m tests.docs.pages` from each `--help`."]
    for name in cli.COMMANDS:
        shown = cli.build_parser(name)[1].format_help().rstrip()
        parts += ["", f"## {name}", "", f"```text\n{shown}\n```"]
    return "\n".join(parts) + "\n"


def renew_port_summary() -> None:
    """The line that `port` prints for the reference programs, on the pages that show it."""
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()) as printed:
        out = str(Path(folder) / "out")
        cli.main(["port", str(FOLDER.parents[1] / "reference_pt"), "-o", out, "--scaffold"])
    line = printed.getvalue().splitlines()[-1].replace(out, "ported_ms")
    for name in ("migrating_resnet50.md", "training.md"):
        path = FOLDER.parent / name
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"^\d+ files to ported_ms: .*$", lambda _: line, text, flags=re.MULTILINE)
        path.write_text(text, encoding="utf-8")


PAGES = {"README.md": overview, "options.md": options}

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make(), encoding="utf-8")
    renew_port_summary()
