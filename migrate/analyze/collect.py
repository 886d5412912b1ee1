"""Analyse file after file, in one process or several; results come in the order of the files."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from migrate.analyze import graph_limits, inplace, packages
from migrate.analyze.judge import judge
from migrate.analyze.model import FileReport, Options, Place, Sign
from migrate.analyze.places import Placer
from migrate.collection import no_collection
from migrate.findings import make_finding
from migrate.flow import Flow
from migrate.project import Project, ReadProblem, SourceFile
from migrate.resolve import FileResolution, Resolver
from migrate.resolve.torch_reach import TorchReach
from migrate.table import Table, TableError

# What is known of modules grows with a tree; beyond this it is forgotten and learnt again, by lines
# of whole trees. All processes together stay below it.
_LINES_REMEMBERED = 50_000
# A second process costs a start-up of about 0.2 s; below this it does not pay.
_WORTH_A_PROCESS = 1_500_000  # bytes
_CHUNK = 12  # neighbouring files import the same modules, so they go to one process


class Analyser:
    """Holds what the files of a request have in common: modules seen, table rows read."""

    def __init__(self, project: Project, table: Table, options: Options, jobs: int = 1) -> None:
        self._table = table
        self._options = options
        self._resolver = Resolver(project, table, _LINES_REMEMBERED // jobs)
        self._reach = TorchReach(project, table.packages)

    def forget(self) -> None:
        """All files are reported."""
        self._resolver.forget()

    def report(self, source: SourceFile) -> FileReport:
        """Everything there is to say about one file; a file that cannot be used says why."""
        path = str(source.path)
        if not self._reach.concerns(source):
            return FileReport(path, torch=False)
        try:
            text = source.read()
            resolution = self._resolver.file(source, text=text)
            if resolution.problem is not None:
                return FileReport(path, problem=resolution.problem)
            return self._describe(resolution, text)
        except ReadProblem as problem:
            return FileReport(path, problem=problem.finding)
        except RecursionError:
            finding = make_finding("MS208", source.path, "an expression is nested too deeply")
            return FileReport(path, problem=finding)
        except TableError:
            raise  # the same for every file
        except Exception as error:  # one file must not cost the user all the others
            reason = f"could not be analysed: {type(error).__name__}: {error}"
            step = "a fault of ms-migrate; please report it with the file"
            return FileReport(path, problem=make_finding("MS209", source.path, reason, step))

    def _describe(self, resolution: FileResolution, text: str) -> FileReport:
        source, types, usages = resolution.source, resolution.types, resolution.usages
        placer = Placer(source, text)
        report = FileReport(placer.path, lines=text.count("\n"))
        ascend = self._options.device == "Ascend" and resolution.scope is not None
        flow = Flow(resolution, self._resolver.modules) if ascend else None
        report.uses = [
            judge(usage, placer.usage(usage), self._table, types, self._options, flow)
            for usage in usages
            if usage.form != "import"
        ]
        if resolution.scope is not None:
            tree = resolution.scope.tree
            report.signs += packages.find(tree, source, self._resolver.modules, placer)
            report.signs += packages.find_in_text(resolution.scope, self._resolver.modules, placer)
            report.signs += inplace.find(tree, usages, types, self._table, placer)
            if self._options.graph:
                report.signs += graph_limits.find(resolution.scope, types, placer, text)
        report.signs.sort(key=_position)
        return report


def _position(sign: Sign) -> tuple[int, int, int, str]:
    place: Place = sign.place
    return place.cell, place.line, place.column, sign.what


def analyse(
    project: Project, table: Table, options: Options, jobs: int = 0
) -> Iterator[FileReport]:
    """One report for each file, in order. `jobs` 0 decides by the size of the tree."""
    jobs = jobs or _processes(project)
    if jobs == 1 or len(project.files) < 2:
        with no_collection():
            analyser = Analyser(project, table, options)
            for source in project.files:
                yield analyser.report(source)
            analyser.forget()
        return
    # Fresh interpreters: a fork would copy whatever threads and locks the caller has.
    with ProcessPoolExecutor(
        max_workers=jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(project, table.folder, options, jobs),
    ) as pool:
        yield from pool.map(_report, range(len(project.files)), chunksize=_CHUNK)


def _processes(project: Project) -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    if available < 2:
        return 1
    total = 0
    for source in project.files:
        try:
            total += source.path.stat().st_size
        except OSError:
            continue
        if total > _WORTH_A_PROCESS:
            return 2
    return 1


_worker: tuple[Project, Analyser]


def _start(project: Project, folder: Path, options: Options, jobs: int) -> None:
    global _worker
    gc.disable()
    _worker = project, Analyser(project, Table(folder, version=options.version), options, jobs)


def _report(index: int) -> FileReport:
    project, analyser = _worker
    return analyser.report(project.files[index])
