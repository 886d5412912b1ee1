"""Write a ported tree to its output directory: planned and checked first, then all or nothing."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from migrate.errors import RequestError
from migrate.files.atomic import staging_directory, sync_directory, sync_tree
from migrate.files.lock import sole_writer
from migrate.port.tree import PortedTree


def write_tree(tree: PortedTree, output: Path, *, force: bool) -> None:
    """Write everything or nothing: built in a staging directory, then moved into place."""
    place = check_output(output, force=force)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with sole_writer(place):
            _check_plan(tree, place)
            with staging_directory(place) as staging:
                content = staging / "content"
                content.mkdir()
                _fill(tree, content)
                sync_tree(content)
                _move(content, place)
            sync_directory(place.parent)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RequestError(
            f"cannot be written: {reason}", where=str(error.filename or output)
        ) from None


def check_output(output: Path, *, force: bool) -> Path:
    """Where the output really is; a long port should not end with nowhere to put it."""
    if output.is_symlink() and not output.exists():
        raise RequestError(
            "is a link to a place that does not exist",
            where=str(output),
            next_step="choose another -o DIR",
        )
    if output.exists() and not output.is_dir():
        raise RequestError(
            "is a file, and a directory is needed",
            where=str(output),
            next_step="choose another -o DIR",
        )
    try:
        filled = output.exists() and any(_lasting(output))
    except OSError as error:
        raise RequestError(
            f"cannot be read: {(error.strerror or str(error)).lower()}", where=str(output)
        ) from None
    if filled and not force:
        raise RequestError(
            "exists and is not empty",
            where=str(output),
            next_step="choose another -o DIR, or add --force",
        )
    return output.resolve()


def _lasting(output: Path) -> Iterator[Path]:
    """What is in a directory, but for what an interrupted run of ours left there."""
    return (path for path in output.iterdir() if ".ms-migrate" not in path.name)


def _targets(tree: PortedTree) -> list[Path]:
    return [*tree.copies, *tree.links, *tree.files, *tree.added]


def _check_plan(tree: PortedTree, output: Path) -> None:
    """Refuse before the first write what would fail, or write through a link, in the middle."""
    targets = _targets(tree)
    folders = {folder for target in targets for folder in target.parents}
    clash = next((target for target in targets if target in folders), None)
    if clash is not None:
        raise RequestError(f"{clash} would be a file and a directory", where=str(output))
    if not output.exists():
        return
    for folder in sorted(folders):
        if _kind(output / folder) not in (stat.S_IFDIR, 0):
            raise RequestError(
                "is in the way: a directory of the port goes there",
                where=str(output / folder),
                next_step="remove it, or choose another -o DIR; nothing was written",
            )
    for target in targets:
        if _kind(output / target) == stat.S_IFDIR:
            raise RequestError(
                "is a directory, and a file of the port goes there",
                where=str(output / target),
                next_step="remove it, or choose another -o DIR; nothing was written",
            )


def _kind(path: Path) -> int:
    """The type of what is at a path, a link being a link; 0 for nothing."""
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except FileNotFoundError:
        return 0


def _fill(tree: PortedTree, folder: Path) -> None:
    for target in _targets(tree):
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
    for target, original in tree.copies.items():
        _copy(original, folder / target, follow_symlinks=False)
    for target, text in tree.links.items():
        os.symlink(text, folder / target)
    for target, ported in tree.files.items():
        place = folder / target
        if ported.changed:
            place.write_bytes(ported.encoded())
            shutil.copymode(ported.source.path, place)
            continue
        ported.source.refuse_changed(ported.digest)
        if ported.source.path.exists():
            _copy(ported.source.path, place)
    for target, text in tree.added.items():
        place = folder / target
        place.write_text(text, encoding="utf-8")
        if target.suffix == ".sh":
            place.chmod(0o755)


def _copy(original: Path, place: Path, *, follow_symlinks: bool = True) -> None:
    """With times and permissions; what cannot be read is the source's fault, not the output's."""
    try:
        shutil.copy2(original, place, follow_symlinks=follow_symlinks)
    except (FileNotFoundError, PermissionError) as error:
        if error.filename != str(original):
            raise
        raise RequestError(
            f"cannot be read: {(error.strerror or str(error)).lower()}; nothing was written",
            where=str(original),
            next_step="check the file's permissions, or move it out of the tree",
        ) from None


def _move(staging: Path, output: Path) -> None:
    """Into an output that exists, file by file.

    Each replacement is atomic and nothing else there is touched.
    """
    if not output.exists():
        os.replace(staging, output)
        return
    for folder, directories, names in os.walk(staging):
        place = output / Path(folder).relative_to(staging)
        place.mkdir(exist_ok=True)
        links = [name for name in directories if os.path.islink(os.path.join(folder, name))]
        for name in sorted([*names, *links]):
            os.replace(os.path.join(folder, name), place / name)
        sync_directory(place)
