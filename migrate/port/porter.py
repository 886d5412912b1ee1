"""Port the files of a project one by one; what goes wrong with a file costs that file alone."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from migrate.collection import no_collection
from migrate.emit.bundle import HEADER
from migrate.errors import describe
from migrate.findings import make_finding
from migrate.port.file import PortedFile, port_file, unported_file
from migrate.project import Project, ReadProblem, SourceFile
from migrate.resolve import Resolver
from migrate.resolve.torch_reach import TorchReach
from migrate.syntax.import_planner import HELPER_MODULE
from migrate.table import Table, TableError

# What is known of modules grows with a tree; beyond so many lines it is forgotten and learnt again.
_LINES_REMEMBERED = 75_000  # lines of whole trees


@dataclass(slots=True)
class Options:
    """What the user asked of the porter."""

    mint: bool = False
    npu: bool = False
    input_shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    jobs: int = 0
    output: Path | None = None  # what lies below it is not copied along
    in_place: bool = False  # nothing is copied along
    trace: bool = False  # say what stands behind each changed line, for a report
    models: Path | None = None  # torchvision's model files, to be ported along
    package: bool = False  # helpers come from ms_migrate_runtime
    style: str = "torch"  # or training loops as mindspore.train.Model: "mindspore"
    data: str = "exact"  # or loaders as pipelines: "native", "close" for pixels that differ


class Porter:
    """Holds what the files of a request have in common: modules seen, table rows read."""

    def __init__(
        self, project: Project, table: Table, options: Options, *, everything: bool = False
    ) -> None:
        """`everything` also interprets files that cannot meet torch: for tests. What is a tensor in
        them is unknown, and a `detach()` or `clone()` is somebody else's.
        """
        self._project, self._table, self._options = project, table, options
        self._resolver = Resolver(project, table)
        self._everything = everything
        self._reach = TorchReach(project, table.packages)

    def port(self, source: SourceFile, helper_import: str) -> PortedFile:
        """The ported file, or the finding that says why it was left as it is."""
        digest = source.digest()  # before it is read: who edits it meanwhile must not lose that
        ported = self._port(source, helper_import)
        ported.digest = digest
        return ported

    def _port(self, source: SourceFile, helper_import: str) -> PortedFile:
        if self._options.npu:
            from migrate.port.npu import npu_file

            return _port_alone(source, partial(npu_file, source))
        if self._resolver.modules.weight > _LINES_REMEMBERED:
            self._resolver = Resolver(self._project, self._table)
            gc.collect()
        if not self._everything and not self._reach.concerns(source):
            return unported_file(source)
        if _is_helper_module(source):
            return unported_file(source)
        return _port_alone(
            source,
            partial(
                port_file,
                self._resolver,
                source,
                helper_import=helper_import,
                mint=self._options.mint,
                data=self._options.data,
                style=self._options.style,
                input_shapes=self._options.input_shapes,
                trace=self._options.trace,
            ),
        )


def _is_helper_module(source: SourceFile) -> bool:
    """Whether an earlier port made the file: its helpers are MindSpore's all through."""
    if source.module.rpartition(".")[2] != HELPER_MODULE:
        return False
    try:
        return source.read().startswith(HEADER)
    except ReadProblem:
        return False


def _port_alone(source: SourceFile, port: Callable[..., PortedFile]) -> PortedFile:
    """Port one file, whose failure costs no other file; a notebook stays a notebook."""
    try:
        with no_collection():
            ported = port() if not source.notebook else _notebook(source, port)
        if ported.changed:
            ported.encoded()
    except ReadProblem as problem:
        return PortedFile(source, "", problem=problem.finding)
    except TableError:
        raise  # the same for every file
    except UnicodeError as error:
        reason = f"cannot be written in its own encoding ({error})"
        problem_found = make_finding("MS204", source.path, reason, "save it as UTF-8 first")
        return PortedFile(source, "", problem=problem_found)
    except (RecursionError, MemoryError):
        reason = "an expression is nested too deeply; the file was left as it is"
        problem_found = make_finding("MS208", source.path, reason, "split the expression")
        return PortedFile(source, "", problem=problem_found)
    except Exception as error:
        reason = f"could not be ported: {describe(error)}"
        step = "a fault of ms-migrate; please report it with the file, which was left as it is"
        return PortedFile(source, "", problem=make_finding("MS209", source.path, reason, step))
    return ported


def _notebook(source: SourceFile, port: Callable[..., PortedFile]) -> PortedFile:
    from migrate.port.notebook import port_notebook

    return port_notebook(source, lambda text: port(text=text))
