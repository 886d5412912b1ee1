"""Port a request: every file to its place in the output, helper modules beside them, nothing
half-written.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from migrate.collection import no_collection
from migrate.emit.bundle import helper_module
from migrate.emit.existing_helpers import existing_helpers
from migrate.emit.helper_location import helper_locations
from migrate.errors import RequestError
from migrate.findings import Finding
from migrate.plan.project_flags import formats_values
from migrate.port.file import PortedFile, port_file, unported_file
from migrate.port.local_models import ModelFile, is_edited, with_local_models
from migrate.project import Project, SourceFile
from migrate.resolve import Resolver
from migrate.resolve.torch_reach import TorchReach
from migrate.syntax.import_planner import HELPER_MODULE
from migrate.table import Table

_MANY = 40  # files from which a second process pays for its start
_NOT_COPIED = frozenset(
    {".git", "__pycache__", ".venv", "node_modules", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
)


@dataclass(slots=True)
class Options:
    """What the user asked of the porter."""

    mint: bool = False
    npu: bool = False
    input_shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    jobs: int = 0
    output: Path | None = None  # what lies below it is not copied along
    models: Path | None = None  # torchvision's model files, to be ported along


@dataclass(slots=True)
class PortedTree:
    """All results of one request, by output path relative to the output directory."""

    files: dict[Path, PortedFile] = field(default_factory=dict)
    helpers: dict[Path, str] = field(default_factory=dict)
    scaffold: dict[Path, str] = field(default_factory=dict)
    copies: dict[Path, Path] = field(default_factory=dict)  # output -> original
    skipped: list[Finding] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        own = [finding for ported in self.files.values() for finding in ported.findings]
        broken = [ported.problem for ported in self.files.values() if ported.problem]
        return [*self.skipped, *broken, *own]

    @property
    def added(self) -> dict[Path, str]:
        """Files that no source corresponds to: helper modules and launch scripts."""
        return self.helpers | self.scaffold


def port_tree(paths: list[Path], project: Project, table: Table, options: Options) -> PortedTree:
    """Port every file of the project; nothing is written."""
    result = PortedTree(skipped=list(project.skipped))
    places = dict(_places(paths, project.files))
    homes = helper_locations(project.files, places, paths)
    if options.models is not None:
        project = with_local_models(project, options.models, homes)
        places = dict(_places(paths, project.files))
        homes = helper_locations(project.files, places, paths)
    _refuse_clashes(places)
    needed: dict[Path, tuple[dict[str, None], dict[str, str]]] = {}
    work = [(source, homes[source][1]) for source in project.files]
    for source, ported in zip(project.files, _port_all(work, project, table, options), strict=True):
        target, home = places[source], homes[source][0]
        ported.changed = ported.changed or is_edited(source, ported.text)
        result.files[target] = ported
        if ported.helpers:
            names, generated = needed.setdefault(home, ({}, {}))
            names |= dict.fromkeys(ported.helpers)
            generated |= ported.generated
    for home, (names, generated) in needed.items():
        mint = table if options.mint else None
        module = home / f"{HELPER_MODULE}.py"
        base = options.output or Path()
        written = {base / target for target in result.files}
        earlier_names, earlier_pieces = existing_helpers(base / module, written)
        names |= earlier_names
        generated = {**earlier_pieces, **generated}
        if formats_values(project):
            names["formatted_tensors"] = None
        result.helpers[module] = helper_module(list(names), generated, mint)
    result.copies = dict(_other_files(paths, set(result.files), options.output))
    return result


def _refuse_clashes(places: dict[SourceFile, Path]) -> None:
    """Two sources for one output: neither may be lost."""
    sources: dict[Path, SourceFile] = {}
    for source, target in places.items():
        if target in sources:
            raise RequestError(
                f"{sources[target].path} and {source.path} would both become {target}",
                next_step="port them into two directories, or port the folder above them",
            )
        sources[target] = source


def _port_all(
    work: list[tuple[SourceFile, str]], project: Project, table: Table, options: Options
) -> list[PortedFile]:
    """In this process, and in fresh ones beside it when there is enough to do."""
    jobs = options.jobs or (min(2, os.cpu_count() or 1) if len(work) >= _MANY else 1)
    if jobs == 1 or len(work) < 2:
        return _port_some(work, project, table, options)
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # Neighbours import each other: whole runs of files keep what a process learns of modules
    # useful to it.
    size = -(-len(work) // jobs)
    parts = [work[start : start + size] for start in range(0, len(work), size)]
    fresh = Table(table.folder, version=table.version)  # what was read stays here
    # Packed before this process goes to work, because work adds to what the project knows.
    packed = [pickle.dumps((part, project, fresh, options)) for part in parts[1:]]
    with ProcessPoolExecutor(len(packed), mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(_port_packed, part) for part in packed]
        first = _port_some(parts[0], project, table, options)
        return [*first, *(ported for future in futures for ported in future.result())]


def _port_packed(part: bytes) -> list[PortedFile]:
    return _port_some(*pickle.loads(part))


def _port_some(
    work: list[tuple[SourceFile, str]], project: Project, table: Table, options: Options
) -> list[PortedFile]:
    if options.npu:
        from migrate.port.npu import npu_file

        return [_as_it_is(source, partial(npu_file, source)) for source, _ in work]
    resolver = Resolver(project, table)
    reach = TorchReach(project, table.packages)
    alone = len(project.files) == 1  # asked for by name: who calls it is not known
    return [
        _as_it_is(
            source,
            partial(
                port_file,
                resolver,
                source,
                helper_import=line,
                mint=options.mint,
                input_shapes=options.input_shapes,
            ),
        )
        if alone or reach.concerns(source)
        else unported_file(source)
        for source, line in work
    ]


def _as_it_is(source: SourceFile, port: Callable[..., PortedFile]) -> PortedFile:
    """Port one file; a notebook stays a notebook."""
    with no_collection():
        return port() if not source.notebook else _notebook(source, port)


def _notebook(source: SourceFile, port: Callable[..., PortedFile]) -> PortedFile:
    from migrate.port.notebook import port_notebook

    return port_notebook(source, lambda text: port(text=text))


def _places(paths: list[Path], files: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, Path]]:
    """Where each file goes, relative to the output: a directory's contents directly, several
    directories each in its own.
    """
    roots = [path for path in paths if path.is_dir()]
    several = len(paths) > 1
    for source in files:
        if isinstance(source, ModelFile):
            yield source, source.target
            continue
        root = next((r for r in roots if source.path.resolve().is_relative_to(r.resolve())), None)
        if root is None:
            yield source, Path(source.path.name)
            continue
        inside = source.path.resolve().relative_to(root.resolve())
        yield source, Path(root.resolve().name) / inside if several else inside


def _other_files(
    paths: list[Path], taken: set[Path], output: Path | None
) -> Iterator[tuple[Path, Path]]:
    """Everything that is not Python source goes along unchanged."""
    several = len(paths) > 1
    for root in paths:
        if not root.is_dir():
            continue
        for folder, directories, names in os.walk(root):
            directories[:] = sorted(
                name
                for name in directories
                if name not in _NOT_COPIED and not _is(Path(folder) / name, output)
            )
            for name in sorted(names):
                original = Path(folder) / name
                inside = original.relative_to(root)
                target = Path(root.resolve().name) / inside if several else inside
                if (
                    target not in taken
                    and not name.endswith((".pyc", ".pyo"))
                    and original.is_file()
                ):
                    yield target, original


def _is(path: Path, other: Path | None) -> bool:
    return other is not None and path.resolve() == other.resolve()


# Writing ----------------------------------------------------------------------------------------


def write_tree(tree: PortedTree, output: Path, *, force: bool) -> None:
    """Write everything or nothing: a new directory is built beside the output and moved into
    place.
    """
    if output.exists() and not output.is_dir():
        raise RequestError(
            "is a file, and a directory is needed",
            where=str(output),
            next_step="choose another -o DIR",
        )
    if output.exists() and any(output.iterdir()) and not force:
        raise RequestError(
            "exists and is not empty",
            where=str(output),
            next_step="choose another -o DIR, or add --force",
        )
    parent = output.resolve().parent
    if not parent.is_dir():
        try:
            parent.mkdir(parents=True)
        except OSError as error:
            raise RequestError(f"cannot be created: {error.strerror}", where=str(parent)) from None
    try:
        staging = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=parent))
    except OSError as error:
        raise RequestError(f"cannot be written to: {error.strerror}", where=str(parent)) from None
    try:
        _fill(tree, staging)
        os.chmod(staging, 0o755)
        _move(staging, output)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def _fill(tree: PortedTree, folder: Path) -> None:
    for target, original in tree.copies.items():
        place = folder / target
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(original, place)
    for target, ported in tree.files.items():
        place = folder / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if ported.changed:
            place.write_bytes(ported.encoded())
            shutil.copymode(ported.source.path, place)
        elif ported.source.path.exists():
            shutil.copy2(ported.source.path, place)
    for target, text in tree.added.items():
        place = folder / target
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        if target.suffix == ".sh":
            place.chmod(0o755)


def _move(staging: Path, output: Path) -> None:
    """Into an output that exists, file by file.

    Each replacement is atomic and nothing else there is touched.
    """
    if not output.exists():
        os.replace(staging, output)
        return
    for path in sorted(staging.rglob("*")):
        target = output / path.relative_to(staging)
        if path.is_dir():
            target.mkdir(exist_ok=True)
        else:
            os.replace(path, target)
    shutil.rmtree(staging, ignore_errors=True)
