"""Which files can meet torch at all, by their bytes and imports; nothing is parsed.

A file is reached when it names torch, when it imports a file that does (however far away), or when
a file of these two kinds imports it: `metrics.py` without an import may still be handed tensors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from migrate.project import Project, ReadProblem, SourceFile
from migrate.project.import_lines import imports_in
from migrate.project.text import read_bytes
from migrate.table.packages import Packages

# `import_module("torch")`, `"torch.optim.SGD"` in a table of names
_QUOTED = re.compile(rb"""["']torch(?:vision|audio)?["'.]""")
Graph = Mapping[str, Iterable[str]]


class TorchReach:
    """Answers for one project; each file is read once, at the first question."""

    def __init__(self, project: Project, packages: Packages) -> None:
        self._project = project
        self._packages = packages
        self._reached: frozenset[str] | None = None

    def concerns(self, source: SourceFile) -> bool:
        """Whether the file must be interpreted. An unreadable one is: its reader will say why."""
        if self._reached is None:
            self._reached = self._closure()
        return str(source.path) in self._reached

    def _closure(self) -> frozenset[str]:
        imports: dict[str, list[str]] = {}
        naming: set[str] = set()
        unreadable: set[str] = set()
        pending = list(self._project.files)
        while pending:
            file = pending.pop()
            key = str(file.path)
            if key in imports:
                continue
            imports[key] = []
            try:
                data = read_bytes(file.path)
            except ReadProblem:
                unreadable.add(key)
                continue
            if b"\0" in data:  # no text, or UTF-16, in which no name would be found
                unreadable.add(key)
                continue
            found = imports_in(data)
            if self._names_torch(file, data, found):
                naming.add(key)
            for imported in self._files(file, found):
                imports[key].append(str(imported.path))
                pending.append(imported)
        using = naming | _reachable(naming, _reversed(imports))
        return frozenset(using | _reachable(using, imports) | unreadable)

    def _names_torch(self, file: SourceFile, data: bytes, found: list[tuple[int, str]]) -> bool:
        """By an import of torch or a package built on it, or by a name in quotes; a comment that
        mentions torch says nothing.
        """
        if file.notebook:  # its lines are quoted
            return b"torch" in data
        roots = self._packages.roots
        imported = (module for dots, module in found if not dots)
        if any("torch" in module or module.partition(".")[0] in roots for module in imported):
            return True
        return b"torch" in data and _QUOTED.search(data) is not None

    def _files(self, file: SourceFile, found: list[tuple[int, str]]) -> Iterable[SourceFile]:
        for dots, module in found:
            name = _absolute(file, dots, module).strip(".")
            source = self._project.find(name, file) if name else None
            if source is not None:
                yield source


def _reversed(graph: Graph) -> Graph:
    backwards: dict[str, list[str]] = {}
    for start, ends in graph.items():
        for end in ends:
            backwards.setdefault(end, []).append(start)
    return backwards


def _reachable(starts: Iterable[str], graph: Graph) -> set[str]:
    seen: set[str] = set()
    pending = list(starts)
    while pending:
        for follower in graph.get(pending.pop(), ()):
            if follower not in seen:
                seen.add(follower)
                pending.append(follower)
    return seen


def _absolute(file: SourceFile, level: int, module: str) -> str:
    if not level:
        return module
    parts = file.package.split(".") if file.package else []
    climbed = parts[: len(parts) - (level - 1)]
    return ".".join([*climbed, module] if module else climbed)
