"""Which files can concern torch at all, by their bytes and imports; nothing is parsed."""

from __future__ import annotations

from migrate.project import Project, ReadProblem, SourceFile
from migrate.project.import_lines import imports_in
from migrate.project.text import read_bytes
from migrate.table.packages import Packages


class Reach:
    """Answers for one project; each file is looked at once."""

    def __init__(self, project: Project, packages: Packages) -> None:
        self._project = project
        self._mentions = packages.mentions
        self._known: dict[str, bool] = {}

    def concerns(self, source: SourceFile) -> bool:
        """True when the file names torch or what is built on it, or imports a file that does."""
        pending, seen = [source], {str(source.path)}
        while pending:
            file = pending.pop()
            key = str(file.path)
            if self._known.get(key):
                self._known[str(source.path)] = True
                return True
            if key in self._known:
                continue
            try:
                data = read_bytes(file.path)
            except ReadProblem:
                # Whoever asked for it will be told; as an import it leads nowhere.
                if file is source:
                    return True
                continue
            if self._mentions.search(data):
                self._known[key] = self._known[str(source.path)] = True
                return True
            for found in self._imports(file, data):
                if str(found.path) not in seen:
                    seen.add(str(found.path))
                    pending.append(found)
        # Nothing that was reached leads to torch, so none of it does.
        self._known.update(dict.fromkeys(seen, False))
        return False

    def _imports(self, file: SourceFile, data: bytes) -> list[SourceFile]:
        names = [_absolute(file, dots, module) for dots, module in imports_in(data)]
        found = (self._project.find(name.strip("."), file) for name in names if name.strip("."))
        return [source for source in found if source is not None]


def _absolute(file: SourceFile, level: int, module: str) -> str:
    if not level:
        return module
    parts = file.package.split(".") if file.package else []
    kept = parts[: len(parts) - (level - 1)]
    return ".".join([*kept, module] if module else kept)
