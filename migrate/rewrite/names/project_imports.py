"""Names that files of the project import from one another."""

from __future__ import annotations

import re
from functools import lru_cache

from migrate.project import Project, ReadProblem, SourceFile

_FROM = re.compile(
    r"^\s*from\s+(?!torch\b|torchvision\b)\S+\s+import\s+(\([^)]*\)|.*)", re.MULTILINE
)


@lru_cache(maxsize=4)
def _imported_names(files: tuple[SourceFile, ...]) -> frozenset[str]:
    names: set[str] = set()
    for file in files:
        try:
            text = file.read()
        except ReadProblem:
            continue
        for found in _FROM.finditer(text):
            names |= set(re.findall(r"\w+", found[1]))
    return frozenset(names)


def imported_names(project: Project) -> frozenset[str]:
    """Every name that some file of the project imports from another module."""
    return _imported_names(tuple(project.files))
