"""`ms-migrate skill --install DIR`: the skill that coding assistants load."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from migrate.errors import RequestError
from migrate.files.atomic import write_text

NAME = "pytorch-to-mindspore"
_TEXT = Path(__file__).with_name("SKILL.md")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--install",
        metavar="DIR",
        type=Path,
        help=f"write DIR/{NAME}/SKILL.md; without it the text is printed",
    )
    parser.add_argument("--force", action="store_true", help="overwrite one that is there")


def run(options: argparse.Namespace) -> int:
    """Print or install."""
    text = _TEXT.read_text(encoding="utf-8")
    if options.install is None:
        sys.stdout.write(text)
        return 0
    place = options.install / NAME / "SKILL.md"
    if place.exists() and not options.force:
        raise RequestError("exists already", where=str(place), next_step="add --force")
    place.parent.mkdir(parents=True, exist_ok=True)
    write_text(place, text)
    if not options.quiet:
        print(f"ms-migrate: wrote {place}", file=sys.stderr)
    return 0
