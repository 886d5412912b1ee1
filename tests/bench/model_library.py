"""A library of torch models, more than 100,000 lines, downloaded once into a cache folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LIBRARY = "timm==1.0.31"
CACHE = Path(sys.prefix) / "bench" / LIBRARY.replace("==", "-")


def folder() -> Path | None:
    """Its source; None where it cannot be downloaded."""
    source = CACHE / LIBRARY.partition("=")[0]
    if not source.is_dir():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
        done = subprocess.run([*command, str(CACHE), LIBRARY], check=False)
        if done.returncode:
            return None
    return source
