"""Where everything goes in the output: ported files, what is copied along, and links.

A directory's contents go directly under the output; of several paths each directory gets a folder
of its own. A link to a place inside the tree stays a link, to where that place goes; a link out of
the tree is a finding, because the output would depend on, or duplicate, what was not asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from migrate.findings import Finding, make_finding
from migrate.port.local_models import ModelFile
from migrate.project import SourceFile

_NOT_COPIED = frozenset(
    {".git", "__pycache__", ".venv", "node_modules", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)
_OWN = ".ms-migrate"  # journals, backups and locks of earlier runs


def places(paths: list[Path], files: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, Path]]:
    """Where each source file goes, relative to the output."""
    roots = _roots(paths)
    for source in files:
        if isinstance(source, ModelFile):
            yield source, source.target
        else:
            place = _place_of(source.path.resolve(), roots)
            yield source, place if place is not None else Path(source.path.name)


def _roots(paths: list[Path]) -> list[tuple[Path, Path]]:
    """Each directory that was asked for, resolved, and where its contents go."""
    several = len(paths) > 1
    resolved = [path.resolve() for path in paths if path.is_dir()]
    return [(root, Path(root.name) if several else Path()) for root in resolved]


def _place_of(path: Path, roots: list[tuple[Path, Path]]) -> Path | None:
    """The place of a resolved path in the output; None for one that is below no root."""
    for root, prefix in roots:
        if path.is_relative_to(root):
            return prefix / path.relative_to(root)
    return None


@dataclass(slots=True)
class Others:
    """What goes along beside the source files: output path to original, or to a link's text."""

    copies: dict[Path, Path] = field(default_factory=dict)
    links: dict[Path, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def other_files(
    paths: list[Path], taken: set[Path], reported: set[Path], output: Path | None
) -> Others:
    """Everything that is not Python source; `reported` are links that have a finding already."""
    found = Others()
    roots = _roots(paths)
    for root in paths:
        if not root.is_dir():
            continue
        for path in _walk(root, output.resolve() if output else None):
            target = _place_of(path.parent.resolve(), roots)
            if target is None or target / path.name in taken:
                continue
            target /= path.name
            if path.is_symlink():
                _link(path, target, roots, reported, found)
            elif path.is_file():
                found.copies[target] = path
    return found


def _walk(root: Path, output: Path | None) -> Iterator[Path]:
    """Files and links below a directory; links are given, not followed."""
    for folder, directories, names in os.walk(root):
        here = Path(folder)
        links = [name for name in directories if (here / name).is_symlink()]
        directories[:] = sorted(
            name
            for name in directories
            if name not in _NOT_COPIED
            and name not in links
            and not name.startswith(_OWN)
            and (output is None or (here / name).resolve() != output)
        )
        for name in sorted([*names, *links]):
            if not name.endswith((".pyc", ".pyo")) and name not in _NOT_COPIED:
                yield here / name


def _link(
    path: Path, target: Path, roots: list[tuple[Path, Path]], reported: set[Path], found: Others
) -> None:
    real = Path(os.path.realpath(path))
    goal = _place_of(real, roots)
    if goal is not None and not _NOT_COPIED & set(goal.parts):
        found.links[target] = os.path.relpath(goal, target.parent)
    elif path not in reported:
        found.findings.append(
            make_finding(
                "MS210",
                path,
                f"is a link to {real}, outside the given paths; it is not in the output",
                "make the link again in the output, or copy what it leads to into the tree",
            )
        )


def helper_place(helper: Path, originals: dict[Path, Path]) -> Path:
    """The source directory, resolved, that corresponds to the helper's place in the output."""
    for target, path in originals.items():
        try:
            inside = target.parent.relative_to(helper.parent)
        except ValueError:
            continue
        home = path.resolve().parent
        for _ in inside.parts:
            home = home.parent
        return home
    return next(iter(originals.values())).resolve().parent
