"""Which file imports which, by their bytes; nothing is parsed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from migrate.project.files import Project, SourceFile
from migrate.project.import_lines import imports_in
from migrate.project.text import ReadProblem, read_bytes

_QUOTED = re.compile(rb"""["']torch(?:vision|audio)?["'.]""")
Imports = list[tuple[int, str]]  # dots and module


@dataclass(slots=True)
class ImportNode:
    """One file: what it names in its import statements, and the files that these lead to."""

    source: SourceFile
    readable: bool = False
    mentions_torch: bool = False  # anywhere, comments included
    quotes_torch: bool = False  # `import_module("torch")`, `"torch.optim.SGD"` in a table of names
    named: Imports = field(default_factory=list)
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
        node = self.nodes[str(source.path)] = ImportNode(source)
        try:
            data = read_bytes(source.path)
        except ReadProblem:
            return []
        if b"\0" in data:  # no text, or UTF-16, in which no name would be found
            return []
        node.readable = True
        node.mentions_torch = b"torch" in data
        node.quotes_torch = node.mentions_torch and _QUOTED.search(data) is not None
        node.named = imports_in(data)
        found = list(self._files(source, node.named))
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
