"""Find the source files of a request, each once, under the module name that Python gives it."""

from __future__ import annotations

import os
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from migrate.findings import Finding, in_order, make_finding
from migrate.project.namespaces import Place, places_of, plain_place
from migrate.project.notebook import join_cells
from migrate.project.scan import Scans
from migrate.project.text import ReadProblem, decode, encode_like, read_bytes
from migrate.project.walk import Walk

if TYPE_CHECKING:
    from migrate.project.import_graph import ImportGraph

# Installed packages share one root; a project there knows its own package, not all its neighbours.
_INSTALLED = frozenset({"site-packages", "dist-packages"})


@dataclass(slots=True, eq=False)
class SourceFile:
    """One Python file or notebook, and its place among the modules around it."""

    path: Path  # as reached from what the user gave, for messages
    module: str  # dotted name from its import root: "reference_pt.resnet", "train"
    package: str  # what relative imports are resolved against; "" at top level
    is_package: bool  # an __init__.py
    notebook: bool
    root: str = ""  # the directory that would be on sys.path
    cells: list[tuple[int, int]] = field(default_factory=list, repr=False)

    def read(self) -> str:
        """The text as Python would decode it; a notebook's code cells as one text."""
        data = read_bytes(self.path)
        if not self.notebook:
            return decode(data, self.path)
        text, self.cells = join_cells(data, self.path)
        return text

    def digest(self) -> str:
        """Of the bytes as they are now; nothing for a file that cannot be read."""
        try:
            return sha256(read_bytes(self.path), usedforsecurity=False).hexdigest()
        except ReadProblem:
            return ""

    def refuse_changed(self, digest: str) -> None:
        """Raise ReadProblem for a file that is not what it was when it was read."""
        if digest and self.digest() != digest:
            changed = "was changed while it was ported, so nothing was written"
            raise ReadProblem(make_finding("MS201", self.path, changed, "run the command again"))

    def encode(self, text: str) -> bytes:
        """Other text for this file, in its encoding and with its line ends; raises UnicodeError."""
        data = read_bytes(self.path)
        if not self.notebook:
            return encode_like(data, text)
        return text.encode("utf-8-sig" if data.startswith(BOM_UTF8) else "utf-8")

    def imports_torch(self) -> bool:
        """Whether torch may be meant in here: false costs one look at the bytes, and no parsing.

        Bytes that are no text (UTF-16 has zeros) and files that cannot be read do not tell: it may
        be, and whoever reads the text gets the refusal.
        """
        try:
            data = read_bytes(self.path)
        except ReadProblem:
            return True
        return b"torch" in data or b"\0" in data

    def place(self, line: int) -> tuple[int, int]:
        """(cell, line in it) of a line of a notebook's text; (0, line) for ordinary files."""
        if not self.cells or line < 1:
            return 0, line
        start, number = self.cells[max(bisect_right(self.cells, (line, 10**9)) - 1, 0)]
        return number, line - start + 1

    def placed(self, finding: Finding) -> Finding:
        """The finding with its line given as people see it in this file."""
        cell, line = self.place(finding.line)
        return replace(finding, cell=cell, line=line) if cell else finding


class Project:
    """The files that were asked for, and a way to the modules that they import."""

    def __init__(
        self, files: list[SourceFile], skipped: list[Finding], scans: Scans | None = None
    ) -> None:
        self.files = files
        self.scans = scans or Scans()
        self.skipped = skipped
        self._by_module: dict[str, list[SourceFile]] = {}
        self._by_path: dict[str, SourceFile] = {}
        for file in files:
            self._by_module.setdefault(file.module, []).append(file)
            self._by_path[os.path.realpath(file.path)] = file
        self._roots: dict[str, set[str]] = {}  # root -> top-level names that were asked for
        for file in files:
            self._roots.setdefault(file.root, set()).add(file.module.partition(".")[0])
        self._found: dict[tuple[str, str], SourceFile | None] = {}
        self._imports: ImportGraph | None = None

    @property
    def imports(self) -> ImportGraph:
        """Which file imports which; all files are read when it is first asked for."""
        if self._imports is None:
            from migrate.project.import_graph import ImportGraph

            self._imports = ImportGraph(self)
        return self._imports

    def holds(self, file: SourceFile) -> bool:
        """Whether the file is one of those that were asked for."""
        return os.path.realpath(file.path) in self._by_path

    def find(self, module: str, near: SourceFile | None = None) -> SourceFile | None:
        """The file of a module name; of several `utils`, the one beside the importing file."""
        key = (module, near.root if near else "")
        if key not in self._found:
            self._found[key] = self._find(module, near)
        return self._found[key]

    def _find(self, module: str, near: SourceFile | None) -> SourceFile | None:
        # As Python's finder, a package before a module of its name.
        asked = sorted(self._by_module.get(module, ()), key=lambda file: not file.is_package)
        if near is not None:
            for file in asked:
                if file.root == near.root:
                    return file
            if found := self._probe(near.root, module):
                return found
        if asked:
            return asked[0]
        for root in self._roots:
            if found := self._probe(root, module):
                return found
        return None

    def _probe(self, root: str, module: str) -> SourceFile | None:
        """Look on disk: a project often imports modules beside those that were asked for."""
        top = module.partition(".")[0]
        if top not in self.scans.members(root) or not top.isidentifier():
            return None
        if os.path.basename(root) in _INSTALLED and top not in self._roots.get(root, ()):
            return None
        found = self.scans.module_file(root, module)
        if not found:
            return None
        known = self._by_path.get(os.path.realpath(found))
        return known or _describe(
            Path(found), plain_place(os.path.dirname(os.path.abspath(found)), {})
        )


def discover(paths: Sequence[Path]) -> Project:
    """All Python files and notebooks of these files and directories, sorted, each once."""
    walk = Walk(paths)
    for path in paths:
        walk.take(path)
    walk.follow_links()
    scans = Scans()
    places = places_of(walk.files, paths, scans)
    files = [_describe(path, places[os.path.abspath(path)]) for path in walk.files]
    files.sort(key=lambda file: str(file.path))
    return Project(files, in_order(walk.skipped), scans)


def _describe(path: Path, place: Place) -> SourceFile:
    stem, _, ending = path.name.rpartition(".")
    stem = stem or ending
    package = place.package
    if stem == "__init__":
        return SourceFile(path, package or "__init__", package, True, False, place.root)
    module = f"{package}.{stem}" if package else stem
    return SourceFile(path, module, package, False, ending == "ipynb", place.root)
