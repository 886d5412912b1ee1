"""PaConvert, the nearest tool of its kind, installed apart so that it cannot disturb this one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from migrate.table.cache import directory


def convert(where: Path) -> tuple[float, float] | None:
    """Wall and processor seconds to convert a directory; None when it cannot be installed here."""
    program = installed_program()
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "--in_dir", where, "--out_dir", Path(folder) / "out", "--no_format"]
        start, before = time.perf_counter(), os.times()
        subprocess.run(
            [*map(str, command), "--log_dir", str(Path(folder) / "log")],
            cwd=folder,
            capture_output=True,
            check=True,
        )
        after = os.times()
        processor = sum(after[2:4]) - sum(before[2:4])
        return time.perf_counter() - start, processor


def installed_program() -> Path | None:
    home = directory() / "bench" / "paconvert"
    program = home / "bin" / "paconvert"
    if program.exists():
        return program
    print("bench: installing PaConvert (once)", file=sys.stderr)
    try:
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "paconvert"]
        subprocess.run(pip, check=True)
    except subprocess.CalledProcessError:
        return None
    return program
