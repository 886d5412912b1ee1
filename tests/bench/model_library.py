"""Packages of torch code, downloaded once into a cache folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LIBRARY = "timm==1.0.31"
CACHE = Path(sys.prefix) / "bench"


def folder() -> Path | None:
    """A library of models, more than 100,000 lines; None where it cannot be downloaded."""
    place = download(LIBRARY)
    return None if place is None else place / LIBRARY.partition("=")[0]


def download(library: str) -> Path | None:
    """Where the files of a package are; None where they cannot be downloaded."""
    place = CACHE / library.replace("==", "-")
    if not place.is_dir():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
        done = subprocess.run([*command, str(place), library], check=False)
        if done.returncode:
            return None
    return place
