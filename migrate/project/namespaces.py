"""Folders without __init__.py that a program imports through all the same.

`from models.net import Net` beside a folder `models` works without an __init__.py there, and many
repositories have none. Files that are reached so belong to the package `models`; those that nobody
reaches so are scripts, each with its own folder as its root.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from migrate.project.scan import Scans


@dataclass(frozen=True, slots=True)
class Place:
    """Where Python finds a file: the directory on its path, and the package from there."""

    root: str
    package: str

    @property
    def directory(self) -> str:
        return os.path.join(self.root, *self.package.split(".")) if self.package else self.root


def plain_place(directory: str, known: dict[str, Place]) -> Place:
    """The place of a directory by __init__.py alone: the root is the first without one."""
    if directory not in known:
        parent, name = os.path.split(directory)
        if name and os.path.isfile(os.path.join(directory, "__init__.py")):
            above = plain_place(parent, known)
            package = f"{above.package}.{name}" if above.package else name
            known[directory] = Place(above.root, package)
        else:
            known[directory] = Place(directory, "")
    return known[directory]


def places_of(files: Iterable[Path], given: Iterable[Path], scans: Scans) -> dict[str, Place]:
    """The place of each file, by its absolute path; `given` are the paths that were asked for."""
    known: dict[str, Place] = {}
    paths = [os.path.abspath(path) for path in files]
    places = {path: plain_place(os.path.dirname(path), known) for path in paths}
    roots = dict.fromkeys(place.root for place in places.values())
    if len(roots) > 1 or any(path.is_dir() for path in given):
        bases = [*roots, *(os.path.dirname(os.path.abspath(p)) for p in given if p.is_dir())]
        _reached(places, list(dict.fromkeys(bases)), scans)
    return places


def _reached(places: dict[str, Place], bases: list[str], scans: Scans) -> None:
    """Move files that are imported through a folder into that package, until nothing changes."""
    pending = list(places)
    while pending:
        path = pending.pop()
        for target, place in _imported(path, places[path], bases, scans):
            # Of two names for a file the longer one counts: its relative imports need it.
            if target in places and len(place.package) > len(places[target].package):
                pending += _moved(target, place, places)


def _imported(
    path: str, place: Place, bases: list[str], scans: Scans
) -> Iterator[tuple[str, Place]]:
    """The files that a file imports, and the place that its import gives them."""
    scan = scans.of(path)
    imports = scan.named
    is_script = scan.names_main or not scan.readable
    folder = os.path.dirname(path)
    tops = {module.partition(".")[0] for dots, module in imports if not dots}
    beside = tops & scans.members(folder)
    for dots, module in imports:
        above, roots = place, [place.root, *bases]
        if dots:
            # With `except ImportError: import blocks` it is run as a script too, and stays one.
            if not place.package and not beside and (needed := _enclosing(folder, dots)):
                yield path, needed
                above = needed
            parts = above.package.split(".")
            kept = parts[: len(parts) - (dots - 1)]
            module, roots = ".".join([*kept, module] if module else kept), [above.root]
        top = module.partition(".")[0]
        for base in roots:
            if top in scans.members(base):
                if found := scans.module_file(base, module):
                    named = os.path.basename(found) == "__init__.py"
                    yield found, Place(base, module if named else module.rpartition(".")[0])
                own = os.path.join(base, top)
                if not is_script and f"{folder}{os.sep}".startswith(own + os.sep):
                    inside = folder.removeprefix(base).strip(os.sep)
                    # It names its own folder.
                    yield path, Place(base, inside.replace(os.sep, "."))
                break


def _enclosing(directory: str, dots: int) -> Place | None:
    """The package that relative imports need, for a file in a folder without __init__.py."""
    names: list[str] = []
    while len(names) < dots or os.path.isfile(os.path.join(directory, "__init__.py")):
        directory, name = os.path.split(directory)
        if not name.isidentifier():
            return None
        names.insert(0, name)
    return Place(directory, ".".join(names))


def _moved(path: str, place: Place, places: dict[str, Place]) -> list[str]:
    """Put a file at its place; a package moves as a whole. Gives the files that moved."""
    old = places[path]
    if not old.package:
        places[path] = place
        return [path]
    prefix = place.package.removesuffix(old.package)
    top = old.package.partition(".")[0]
    moved = [
        other
        for other, its in places.items()
        if its.root == old.root and its.package.partition(".")[0] == top
    ]
    for other in moved:
        places[other] = Place(place.root, prefix + places[other].package)
    return moved


def import_place(path: Path) -> Place:
    """The place of a single file, by its own imports: what must be on Python's path for it."""
    place = plain_place(os.path.dirname(os.path.abspath(path)), {})
    if place.package:
        return place
    imports = Scans().of(os.path.abspath(path)).named
    dots = max((dots for dots, _ in imports), default=0)
    if dots and (needed := _enclosing(place.root, dots)):
        return needed
    tops = {module.partition(".")[0] for dots, module in imports if not dots}
    folder, names = place.root, list[str]()
    while (name := os.path.basename(folder)).isidentifier() and len(names) < _NEARBY:
        names.insert(0, name)
        folder = os.path.dirname(folder)
        if name in tops and not os.path.exists(os.path.join(place.root, name)):
            return Place(folder, ".".join(names))
    return place


_NEARBY = 4  # folders above a file in which its imports are looked for
