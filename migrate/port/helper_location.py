"""Where the helper module of each file goes, and the lines that import it from there.

A folder that is ported has one helper module, at its top, so that a class in it is the same class
for all files: `isinstance(m, nn.Upsample)` in one package must know the layer that another package
built. A file that Python reaches from a folder further down (`python tools/train.py`) says where
the top is before it imports the module; under `python -m tools.train` the same lines do no harm. A
package that is installed keeps a module of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

from migrate.port.local_models import ModelFile
from migrate.project import ReadProblem, SourceFile
from migrate.project.text import read_bytes
from migrate.syntax.import_planner import HELPER_MODULE, HELPERS

Home = tuple[Path, str]  # the directory, relative to the output, and the lines of the import

_DIRECT = f"import {HELPER_MODULE} as {HELPERS}"
_PROJECT_TABLE = re.compile(r"^\[(project|tool\.poetry)\]", re.MULTILINE)


def helper_locations(
    files: Iterable[SourceFile], places: dict[SourceFile, Path], paths: list[Path]
) -> dict[SourceFile, Home]:
    """The home of every file: its package, its folder, or the directory that it shares."""
    homes = {source: helper_home(source, places[source], paths) for source in files}
    roots = {source: _import_root(source, homes[source], paths) for source in homes}
    shared: dict[Path, list[SourceFile]] = {}
    for source, root in roots.items():
        top = _asked_for(root, places[source], paths) if root is not None else None
        if top is not None and not source.notebook:
            shared.setdefault(top, []).append(source)
    for top, sources in shared.items():
        used = {homes[source][0] for source in sources if source.imports_torch()}
        if len(used) > 1:
            top = _lowest([roots[s] or top for s in sources if s.imports_torch()], top)
            homes |= {
                source: (top, _from_below(top, places[source], roots[source] or top))
                for source in sources
            }
    return homes


def _asked_for(root: Path, place: Path, paths: list[Path]) -> Path | None:
    """The place of the folder that was asked for and holds a file; models ported along have none
    but their own.
    """
    several = sum(path.is_dir() for path in paths) > 0 and len(paths) > 1
    top = Path(place.parts[0]) if several and len(place.parts) > 1 else Path()
    return top if root.is_relative_to(top) else root


def _lowest(roots: list[Path], top: Path) -> Path:
    """The deepest folder that holds all of these."""
    parts = zip(*(root.parts for root in roots), strict=False)
    common = Path(*(names[0] for names in takewhile(lambda names: len(set(names)) == 1, parts)))
    return common if common.is_relative_to(top) else top


def _from_below(top: Path, place: Path, root: Path) -> str:
    """The import; where Python does not reach the top by itself, behind the way up to it."""
    if root == top:
        return _DIRECT
    depth = len(place.parent.relative_to(top).parts)
    up = ", ".join(['".."'] * depth)
    way = f"sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), {up}))"
    return f"{way}\n{_DIRECT}"


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
