"""Source files that a recorded step names, read only where that was agreed to.

A step recorded elsewhere may name any path; a report must not carry lines of files that happen to
have that name here. `parity` has just run the files itself; `compare` reads below `--sources` only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_roots: list[tuple[str, ...] | None] = [None]  # None: every file


@contextmanager
def limited_to(folders: Sequence[Path]) -> Iterator[None]:
    """Read nothing but Python files below these directories."""
    _roots.append(tuple(os.path.realpath(folder) for folder in folders))
    try:
        yield
    finally:
        _roots.pop()


def read(name: str | Path) -> str:
    """The file's text; raises OSError for a file that must not or cannot be read."""
    path = Path(name)
    allowed = _roots[-1]
    if allowed is not None:
        real = os.path.realpath(path)
        inside = any(os.path.commonpath([real, root]) == root for root in allowed)
        if not inside or not real.endswith(".py"):
            raise PermissionError(f"{path} is not below a directory given with --sources")
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file")
    return path.read_text(encoding="utf-8")
