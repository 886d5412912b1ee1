"""A path as a word of the command line: not empty, and one that a file system can have."""

from __future__ import annotations

import argparse
from pathlib import Path


def path_argument(text: str) -> Path:
    """`port "$DIR" --in-place` without the variable must not mean the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("an empty path; write . for the current folder")
    if "\0" in text:
        raise argparse.ArgumentTypeError("no path holds a zero byte")
    return Path(text)
