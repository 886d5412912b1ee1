"""Port a request in memory: every file with its place in the output, helper modules beside them."""

from __future__ import annotations

import ast
import contextlib
import os
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from migrate.analyze.coverage import Coverage
from migrate.emit.bundle import helper_module
from migrate.emit.existing_helpers import existing_helpers, with_helpers
from migrate.emit.lean.facts import MISSING, SUMS
from migrate.emit.used_helpers import INSTALLED, used_helpers
from migrate.errors import RequestError
from migrate.findings import Finding
from migrate.flow.dataset_sums import may_add_datasets
from migrate.flow.project_flags import formats_values
from migrate.flow.reached_parameters import reaches_all_parameters
from migrate.port.file import PortedFile
from migrate.port.helper_location import helper_locations
from migrate.port.layout import helper_place, other_files
from migrate.port.layout import places as places_in_output
from migrate.port.local_models import is_edited, with_local_models
from migrate.port.porter import Options, Porter
from migrate.port.variants import with_variants
from migrate.project import Project, SourceFile
from migrate.syntax.import_planner import HELPER_MODULE
from migrate.table import Table

__all__ = ["Options", "PortedTree", "port_tree"]

_MANY = 40  # files from which a second process pays for its start


@dataclass(slots=True)
class PortedTree:
    """All results of one request, by output path relative to the output directory."""

    files: dict[Path, PortedFile] = field(default_factory=dict)
    helpers: dict[Path, str] = field(default_factory=dict)
    scaffold: dict[Path, str] = field(default_factory=dict)
    copies: dict[Path, Path] = field(default_factory=dict)  # output -> original
    links: dict[Path, str] = field(default_factory=dict)  # output -> where the link leads
    skipped: list[Finding] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        own = [finding for ported in self.files.values() for finding in ported.findings]
        broken = [ported.problem for ported in self.files.values() if ported.problem]
        return [*self.skipped, *broken, *own]

    @property
    def coverage(self) -> Coverage:
        """The counts of all files together."""
        return sum((ported.coverage for ported in self.files.values()), Coverage())

    @property
    def added(self) -> dict[Path, str]:
        """Files that no source corresponds to: helper modules and launch scripts."""
        return self.helpers | self.scaffold


def port_tree(
    paths: list[Path],
    project: Project,
    table: Table,
    options: Options,
    done: Callable[[int], None] | None = None,
) -> PortedTree:
    """Port every file of the project; nothing is written. `done` is told how many files are."""
    result = PortedTree(skipped=list(project.skipped))
    places = dict(places_in_output(paths, project.files))
    homes = helper_locations(project.files, places, paths)
    if options.models is not None:
        project = with_local_models(project, options.models, homes)
        places = dict(places_in_output(paths, project.files))
        homes = helper_locations(project.files, places, paths)
    _refuse_clashes(places)
    if not options.mint:  # the CPU's kernels swallow NaN, and mint's norms count batches
        table = with_variants(table, project)
    needed: dict[Path, tuple[dict[str, None], dict[str, str]]] = {}
    work = [(source, homes[source][1]) for source in project.files]
    all_ported = _port_all(work, project, table, options, done)
    for source, ported in zip(project.files, all_ported, strict=True):
        target, home = places[source], homes[source][0]
        ported.changed = ported.changed or is_edited(source, ported.text)
        result.files[target] = ported
        if ported.helpers:
            names, generated = needed.setdefault(home, ({}, {}))
            names |= dict.fromkeys(ported.helpers)
            generated |= ported.generated
    for home, (names, generated) in needed.items():
        _add_helpers(result, home, names, generated, project, table, options)
    if options.in_place:
        return result
    reported = {finding.path for finding in result.skipped}
    others = other_files(paths, set(result.files), reported, options.output)
    result.copies, result.links = others.copies, others.links
    result.skipped += others.findings
    return result


def _add_helpers(
    result: PortedTree,
    home: Path,
    names: dict[str, None],
    generated: dict[str, str],
    project: Project,
    table: Table,
    options: Options,
) -> None:
    """The helper module of one folder, with what files of an earlier port need of it."""
    mint = table if options.mint else None
    module = home / f"{HELPER_MODULE}.py"
    if options.output is not None:
        existing = options.output / module
        written = {options.output / target for target in result.files}
    else:
        originals = {target: ported.source.path for target, ported in result.files.items()}
        existing = helper_place(module, originals) / module.name
        written = {path.resolve() for path in originals.values()}
    earlier = existing_helpers(existing, written)
    names |= earlier.names
    generated = {**earlier.pieces, **generated}
    if formats_values(project):
        names["formatted_tensors"] = None
    before = result.files.get(module)
    # Files without helpers count, too: one may hook networks, or draw random numbers in them.
    texts = [one.text for at, one in result.files.items() if at.stem != HELPER_MODULE]
    text = helper_module(
        list(names),
        generated,
        mint,
        package=options.package,
        users=[*texts, *earlier.users],
        modules=_importable(result.files),
        excluded=_excluded(project, result.files.values()),
    )
    if before is None:
        result.helpers[module] = text
    elif before.problem is None:  # the sources were ported before
        old = _written_before(before.text, result.files, mint, options)
        before.text = with_helpers(before.text, text, old)
        before.changed = before.text != before.source.read()


def _excluded(project: Project, files: Iterable[PortedFile]) -> list[str]:
    """Facts that the source of the program excludes."""
    missing = not reaches_all_parameters(project)
    sums = any(_adds_datasets(file) for file in files if file.source.path.stem != HELPER_MODULE)
    return [fact for fact, holds in {MISSING: missing, SUMS: sums}.items() if not holds]


def _adds_datasets(ported: PortedFile) -> bool:
    if ported.adds_datasets is not None:
        return ported.adds_datasets
    try:
        return may_add_datasets(ast.parse(ported.text))
    except SyntaxError:
        return True


def _importable(files: Mapping[Path, PortedFile]) -> set[str]:
    """Names by which files of the port are imported, those of their folders among them, and of a
    package that is ported from its own folder on.
    """
    packages = {
        ported.source.module.partition(".")[0]
        for ported in files.values()
        if ported.source.path.stem == "__init__" and "." not in ported.source.module
    }
    parts = {part for path in files for part in path.with_suffix("").parts}
    return parts | packages | {HELPER_MODULE}


def _written_before(
    module: str, files: Mapping[Path, PortedFile], mint: Table | None, options: Options
) -> str:
    """The helper module as it was written for the files that were ported already."""
    texts = [one.source.read() for at, one in files.items() if at.stem != HELPER_MODULE]
    users = [text for text in texts if HELPER_MODULE in text or "torch" not in text]
    with contextlib.suppress(SyntaxError):
        trees = [ast.parse(text) for text in users]
        names = {name for tree in trees for name in used_helpers(tree)}
        names |= {name for name in INSTALLED if f"\n{name} = " in module}
        modules = _importable(files)
        wanted = sorted(names)
        return helper_module(
            wanted, {}, mint, package=options.package, users=users, modules=modules
        )
    return ""


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
    work: list[tuple[SourceFile, str]],
    project: Project,
    table: Table,
    options: Options,
    done: Callable[[int], None] | None,
) -> list[PortedFile]:
    """In this process, and in fresh ones beside it when there is enough to do."""
    jobs = options.jobs or (min(2, os.cpu_count() or 1) if len(work) >= _MANY else 1)
    if jobs == 1 or len(work) < 2:
        return _port_some(work, project, table, options, done)
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # Neighbours import each other: whole runs of files keep what a process learns of modules
    # useful to it.
    size = -(-len(work) // jobs)
    parts = [work[start : start + size] for start in range(0, len(work), size)]
    # What was read stays here.
    fresh = Table(table.folder, version=table.version, variants=table.variants)
    # Packed before this process goes to work, because work adds to what the project knows.
    packed = [pickle.dumps((part, project, fresh, options)) for part in parts[1:]]
    with ProcessPoolExecutor(len(packed), mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(_port_packed, part) for part in packed]
        # The others go on beside it, at the same pace.
        told = (lambda count: done(count * jobs)) if done else None
        first = _port_some(parts[0], project, table, options, told)
        return [*first, *(ported for future in futures for ported in future.result())]


def _port_packed(part: bytes) -> list[PortedFile]:
    return _port_some(*pickle.loads(part))


def _port_some(
    work: list[tuple[SourceFile, str]],
    project: Project,
    table: Table,
    options: Options,
    done: Callable[[int], None] | None = None,
) -> list[PortedFile]:
    porter = Porter(project, table, options)
    ported = []
    for number, (source, line) in enumerate(work, 1):
        ported.append(porter.port(source, line))
        if done is not None:
            done(number)
    return ported
