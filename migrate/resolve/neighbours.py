"""Files of the program that are imported, use torch, and are not among those to be ported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from migrate.project import ReadProblem, SourceFile
from migrate.project.text import read_bytes
from migrate.resolve.import_binding import absolute_name
from migrate.resolve.modules import Modules

_TORCH = re.compile(rb"^[ \t]*(?:from|import)[ \t]+torch(?:vision)?\b", re.MULTILINE)


def unported_neighbours(
    node: ast.Import | ast.ImportFrom, source: SourceFile, modules: Modules
) -> list[SourceFile]:
    """Those that one import statement leads to: the ported file would find them missing."""
    found: dict[Path, SourceFile] = {}
    for name in _modules_in(node, source):
        file = None if modules.is_library(name) else modules.project.find(name, source)
        if file is not None and not modules.project.holds(file) and _uses_torch(file.path):
            found[file.path] = file
    return list(found.values())


def _modules_in(node: ast.Import | ast.ImportFrom, source: SourceFile) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name
        return
    module = absolute_name(node, source)
    if module:
        yield module
    for alias in node.names:
        yield f"{module}.{alias.name}" if module else alias.name


@lru_cache(maxsize=4096)
def _uses_torch(path: Path) -> bool:
    try:
        return bool(_TORCH.search(read_bytes(path)))
    except ReadProblem:
        return False
