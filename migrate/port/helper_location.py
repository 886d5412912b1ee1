"""Where the helper module of each file goes, and the line that imports it from there.

Files that Python reaches from one directory share one helper module, so that a class in it is the
same class for all of them: `isinstance(m, nn.Upsample)` in one package must know the layer that
another package built.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from migrate.port.local_models import ModelFile
from migrate.project import ReadProblem, SourceFile
from migrate.project.text import read_bytes
from migrate.syntax.import_planner import HELPER_MODULE, HELPERS

Home = tuple[Path, str]  # the directory, relative to the output, and the import

_DIRECT = f"import {HELPER_MODULE} as {HELPERS}"
_PROJECT_TABLE = re.compile(r"^\[(project|tool\.poetry)\]", re.MULTILINE)


def helper_locations(
    files: Iterable[SourceFile], places: dict[SourceFile, Path], paths: list[Path]
) -> dict[SourceFile, Home]:
    """The home of every file: its package, its folder, or the directory that it shares."""
    homes = {source: helper_home(source, places[source], paths) for source in files}
    shared: dict[Path, list[SourceFile]] = {}
    for source in homes:
        top = _import_root(source, homes[source], paths)
        if top is not None:
            shared.setdefault(top, []).append(source)
    for top, sources in shared.items():
        used = {homes[source][0] for source in sources if source.imports_torch()}
        if len(used) > 1:
            homes |= dict.fromkeys(sources, (top, _DIRECT))
    return homes


def helper_home(source: SourceFile, target: Path, paths: list[Path]) -> Home:
    """The home of a file that shares nothing with files outside its package or folder."""
    if isinstance(source, ModelFile):
        return source.helper_home
    if not source.package or not any(path.is_dir() for path in paths):
        return target.parent, _DIRECT
    # In a package the helpers live at its top, and files reach them by a relative import. `port
    # pkg -o out` puts the package's contents directly under out: out itself is then the package.
    depth = len(source.module.split(".")) - (0 if source.is_package else 1)
    climbs = max(min(depth, len(target.parent.parts) + 1), 1)
    home = target.parent
    for _ in range(climbs - 1):
        home = home.parent
    return home, f"from {'.' * climbs} import {HELPER_MODULE} as {HELPERS}"


def _import_root(source: SourceFile, home: Home, paths: list[Path]) -> Path | None:
    """The directory, relative to the output, from which Python reaches the file; None where it is
    not ported along, or where packages are installed from it one by one.
    """
    place, line = home
    if isinstance(source, ModelFile):
        return None if source.inside else place.parent
    root = Path(source.root).resolve()
    if not any(path.is_dir() and root.is_relative_to(path.resolve()) for path in paths):
        return None
    if _is_installed_from(root):
        return None
    return place if line == _DIRECT else place.parent


def _is_installed_from(root: Path) -> bool:
    if (root / "setup.py").is_file():
        return True
    described = root / "pyproject.toml"
    if not described.is_file():
        return False
    try:
        text = read_bytes(described).decode("utf-8", errors="replace")
    except ReadProblem:
        return False
    return _PROJECT_TABLE.search(text) is not None
