"""`--exclude PATTERN`: files that are neither analysed nor ported."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

from migrate.errors import RequestError
from migrate.project import Project


def without_excluded(project: Project, patterns: Sequence[str]) -> Project:
    """The project without the files that a pattern names."""
    wanted = split(patterns)
    if not wanted:
        return project
    files = [file for file in project.files if not excluded(file.path, wanted)]
    if project.files and not files:
        raise RequestError(f"--exclude {','.join(wanted)} leaves no file", next_step="exclude less")
    skipped = [finding for finding in project.skipped if not excluded(finding.path, wanted)]
    return Project(files, skipped, project.scans)


def split(patterns: Iterable[str]) -> list[str]:
    """Commas separate patterns, too."""
    return [one.strip() for pattern in patterns for one in pattern.split(",") if one.strip()]


def excluded(path: Path, patterns: Sequence[str]) -> bool:
    """`tests` and `*_pb2.py` match a part of the path, `src/old/*.py` the path from here or the
    whole of it.
    """
    relative = os.path.relpath(path).replace(os.sep, "/")
    parts = relative.split("/")
    for pattern in patterns:
        bare = pattern.rstrip("/").removeprefix("./")
        if "/" not in bare:
            if any(fnmatch(part, bare) for part in parts):
                return True
        elif any(fnmatch(relative, one) for one in (bare, f"{bare}/*", f"*/{bare}")) or fnmatch(
            os.path.abspath(path), bare
        ):
            return True
    return False
