"""Which file imports which, by their bytes; nothing is parsed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from migrate.project.files import Project, SourceFile
from migrate.project.scan import Scan

Imports = list[tuple[int, str]]  # dots and module


@dataclass(slots=True)
class ImportNode:
    """One file: what it names in its import statements, and the files that these lead to."""

    source: SourceFile
    scan: Scan
    imports: list[str] = field(default_factory=list)


class ImportGraph:
    """The files of a request and all that they import, by path."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.nodes: dict[str, ImportNode] = {}
        self._importers: dict[str, list[str]] = {}
        pending = list(project.files)
        while pending:
            source = pending.pop()
            if str(source.path) not in self.nodes:
                pending += self._read(source)
        for path, node in self.nodes.items():
            for imported in node.imports:
                self._importers.setdefault(imported, []).append(path)

    def importers(self, source: SourceFile) -> list[SourceFile]:
        """The files that import this one, in the order of their paths."""
        paths = sorted(set(self._importers.get(str(source.path), ())))
        return [self.nodes[path].source for path in paths]

    def below(self, starts: Iterable[str]) -> set[str]:
        """All that is imported from there, at any distance."""
        return _reachable(starts, lambda path: self.nodes[path].imports)

    def above(self, starts: Iterable[str]) -> set[str]:
        """All that imports one of them, at any distance."""
        return _reachable(starts, lambda path: self._importers.get(path, ()))

    def _read(self, source: SourceFile) -> list[SourceFile]:
        scan = self._project.scans.of(os.path.abspath(source.path))
        node = self.nodes[str(source.path)] = ImportNode(source, scan)
        if not scan.readable:
            return []
        found = list(self._files(source, scan.named))
        node.imports = [str(file.path) for file in found]
        return found

    def _files(self, source: SourceFile, named: Imports) -> Iterator[SourceFile]:
        for dots, module in named:
            name = _absolute(source, dots, module).strip(".")
            found = self._project.find(name, source) if name else None
            if found is not None:
                yield found


def _reachable(starts: Iterable[str], follow: Callable[[str], Iterable[str]]) -> set[str]:
    seen: set[str] = set()
    pending = list(starts)
    while pending:
        for path in follow(pending.pop()):
            if path not in seen:
                seen.add(path)
                pending.append(path)
    return seen


def _absolute(source: SourceFile, level: int, module: str) -> str:
    if not level:
        return module
    parts = source.package.split(".") if source.package else []
    climbed = parts[: len(parts) - (level - 1)]
    return ".".join([*climbed, module] if module else climbed)
