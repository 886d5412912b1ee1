"""Which files can concern torch at all, by their bytes and imports; nothing is parsed."""

from __future__ import annotations

import re

from migrate.project import Project, ReadProblem, SourceFile
from migrate.project.text import read_bytes

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*)[ \t]*([\w.]*)[ \t]+import[ \t]+([^#\n]+|\([^)]*\))"
    rb"|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
_NAME = re.compile(r"[\w.]+")


class Reach:
    """Answers for one project; each file is looked at once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, bool] = {}

    def concerns(self, source: SourceFile) -> bool:
        """True when the file names torch, or imports a project file that leads to torch."""
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
            if b"torch" in data:
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
        names: list[str] = []
        for dots, base, members, plain in _IMPORT.findall(data):
            if plain:
                names += [part.split()[0] for part in plain.decode().split(",") if part.split()]
                continue
            module = _absolute(file, len(dots), base.decode())
            names.append(module)
            names += [f"{module}.{name}" for name in _NAME.findall(members.decode(errors="ignore"))]
        found = (self._project.find(name.strip("."), file) for name in names if name.strip("."))
        return [source for source in found if source is not None]


def _absolute(file: SourceFile, level: int, module: str) -> str:
    if not level:
        return module
    parts = file.package.split(".") if file.package else []
    kept = parts[: len(parts) - (level - 1)]
    return ".".join([*kept, module] if module else kept)
