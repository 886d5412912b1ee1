"""Overwrite the sources with their port: only what can be brought back, as one transaction."""

from __future__ import annotations

import os
import shutil
import time
from functools import cache
from pathlib import Path

from migrate.errors import RequestError
from migrate.files import atomic, in_place
from migrate.files.git_index import Repository, UnreadableIndex, find_repository
from migrate.files.in_place import Write
from migrate.port.layout import helper_place
from migrate.port.tree import PortedTree

_SHOWN = 8


def top_of(paths: list[Path]) -> Path:
    """The directory that all paths lie in: the journal is kept there."""
    folders = [path.resolve() if path.is_dir() else path.resolve().parent for path in paths]
    return Path(os.path.commonpath(folders))


def refuse_links(paths: list[Path]) -> None:
    for path in paths:
        if path.is_symlink() and not path.is_dir():
            raise RequestError(
                "is a link, and links are not written through",
                where=str(path),
                next_step="give the file that it leads to, or use -o DIR",
            )


def write_in_place(
    tree: PortedTree, paths: list[Path], *, force: bool, backup: bool
) -> Path | None:
    """Overwrite; gives the directory with the backups, where they were asked for."""
    top = top_of(paths)
    writes = planned_writes(tree, paths)
    old = [write.path for write in writes if write.path.exists()]
    if not force and not backup:
        refuse_unprotected(old)
    kept = None
    try:
        if backup and old:
            kept = _back_up(top, old)
        if writes:
            in_place.apply(top, writes)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RequestError(
            f"cannot be written: {reason}", where=str(error.filename or top)
        ) from None
    return kept


def planned_writes(tree: PortedTree, paths: list[Path]) -> list[Write]:
    """Every file with its new content, at its real place inside what was asked for."""
    roots = [path.resolve() for path in paths]
    originals = {target: ported.source.path for target, ported in tree.files.items()}
    writes = []
    for ported in tree.files.values():
        if ported.changed:
            place = ported.source.path.resolve()
            if not any(place.is_relative_to(root) for root in roots):
                raise RequestError(
                    "lies outside of what is ported in place", where=str(ported.source.path)
                )
            writes.append(Write(place, ported.encoded(), ported.digest))
    for target, text in tree.helpers.items():
        place = helper_place(target, originals).resolve() / target.name
        data = text.encode()
        if not (place.is_file() and place.read_bytes() == data):
            writes.append(Write(place, data))
    return writes


def refuse_unprotected(files: list[Path]) -> None:
    """Overwriting is only safe where git could bring the very content back."""
    lost: dict[str, list[Path]] = {}
    for path in files:
        reason = _unprotected(path)
        if reason:
            lost.setdefault(reason, []).append(path)
    if not lost:
        return
    reason, paths = next(iter(lost.items()))
    count = sum(map(len, lost.values()))
    named = ", ".join(str(path) for path in paths[1:_SHOWN])
    more = f" (and {count - 1} more: {named}{', ...' if count > _SHOWN else ''})" if named else ""
    raise RequestError(
        f"{reason}, so git could not bring it back{more}",
        where=str(paths[0]),
        next_step="commit first, use -o DIR, add --backup to keep copies, or --force",
    )


def _unprotected(path: Path) -> str:
    """Why git could not give this file back; nothing where it could."""
    try:
        repository = _repository(path.parent)
        if repository is None:
            return "is not under git"
        if repository.restores(path, path.read_bytes()):
            return ""
        if repository.tracks(path):
            return "has uncommitted changes"
        return "is not tracked by git"
    except UnreadableIndex as problem:
        return f"is in a git repository that cannot be read safely ({problem})"


@cache
def _repository(folder: Path) -> Repository | None:
    return find_repository(folder)


def _back_up(top: Path, files: list[Path]) -> Path:
    """Copies of the originals in a new directory at the top of the tree."""
    stem = time.strftime(".ms-migrate-backup-%Y%m%d-%H%M%S")
    for number in range(1000):
        folder = top / (f"{stem}-{number}" if number else stem)
        try:
            folder.mkdir(mode=0o700)
            break
        except FileExistsError:
            continue
    try:
        for path in files:
            copy = folder / path.resolve().relative_to(top)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy, follow_symlinks=False)
    except OSError:  # half of a backup is none, and a full disk stays full
        atomic.remove(folder)
        raise
    return folder
