"""Compile graph_engine.cc into the library that is shipped beside it.

For developers: `python -m migrate.preflight.stubs.compile` after a change of graph_engine.cc. Users
need no compiler.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("graph_engine.cc")
LIBRARY = Path(__file__).with_name("libms_migrate_ge.so")
_FLAGS = (
    "-D_GLIBCXX_USE_CXX11_ABI=0",
    "-std=c++17",
    "-shared",
    "-fPIC",
    "-Os",
    "-s",
    "-Wall",
    "-Werror",
    "-ffunction-sections",
    "-fdata-sections",
    "-Wl,--gc-sections",
    "-Wl,-soname,libms_migrate_ge.so",
    "-fno-ident",
    "-Wl,--build-id=none",
)


def digest() -> str:
    """Of the source; the library carries it as `ms-migrate-source:DIGEST`."""
    return hashlib.sha256(SOURCE.read_bytes()).hexdigest()


def compile_library(output: Path) -> None:
    """Run the compiler."""
    define = f'-DSOURCE_DIGEST="{digest()}"'
    subprocess.run(["g++", *_FLAGS, define, str(SOURCE), "-o", str(output)], check=True)


if __name__ == "__main__":
    compile_library(LIBRARY)
    print(f"{LIBRARY}: {LIBRARY.stat().st_size} bytes", file=sys.stderr)
