"""What does each expression mean? Names, aliases, classes across files, and which values are
tensors.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from migrate.findings import Finding
from migrate.project import Project, ReadProblem, SourceFile
from migrate.resolve.callers import Callers, Recorded
from migrate.resolve.interpreter import Interpreter
from migrate.resolve.look import CallRecorder, Look
from migrate.resolve.module_scope import ModuleScope
from migrate.resolve.modules import Modules
from migrate.resolve.usage import Usage
from migrate.resolve.values import Value
from migrate.table import Table

__all__ = ["FileResolution", "Resolver", "Usage", "resolve_project"]


@dataclass(slots=True)
class FileResolution:
    """The torch usages of one file in source order, or the reason why it could not be read."""

    source: SourceFile
    usages: list[Usage] = field(default_factory=list)
    problem: Finding | None = None
    scope: ModuleScope | None = None
    types: dict[ast.AST, Value] = field(default_factory=dict)
    quoted: list[tuple[str, ast.expr]] = field(default_factory=list)


class Resolver:
    """Resolves the files of one project, sharing what it learns of modules they have in common."""

    def __init__(self, project: Project, table: Table, limit: int = sys.maxsize) -> None:
        """`limit` is the weight of modules, in lines of whole trees, beyond which all of them are
        forgotten before the next file is looked at.
        """
        self.modules = Modules(project, table)
        self.interpreter = Interpreter(self.modules)
        self._callers = Callers(self.modules, self._look_at, limit)
        self._held: SourceFile | None = None

    @property
    def recorded(self) -> Recorded:
        """What was recorded of calls into other files."""
        return self._callers.recorded

    def forget(self) -> None:
        """All files are done: a report of a large tree needs the memory."""
        self._let_go()
        self._callers.forget()

    def _look_at(self, source: SourceFile, text: str) -> Look:
        """Interpret a file by itself; ReadProblem says why it cannot be."""
        scope = self.modules.begin(source, text)
        recorder = CallRecorder()
        return Look(scope, Interpreter(self.modules, recorder), recorder)

    def file(self, source: SourceFile, *, text: str | None = None) -> FileResolution:
        """Resolve one file: its usages, and the value of every expression."""
        try:
            text = source.read() if text is None else text
            self._let_go()
            self._callers.make_room()
            look = self._callers.refined(source, text)
            self._in_hand(source)
        except ReadProblem as problem:
            return FileResolution(source, problem=problem.finding)
        interpreter = self.interpreter = look.interpreter
        ordered = sorted(
            interpreter.own_usages.values(),
            key=lambda u: (u.line, u.column, -u.end_line, -u.end_column),
        )
        return FileResolution(
            source,
            ordered,
            scope=look.scope,
            types=interpreter.own_types,
            quoted=interpreter.quoted,
        )

    def _let_go(self) -> None:
        """The tree of the file before may lose its bodies."""
        if self._held is not None:
            self.modules.let_go(self._held)
            self._held = None

    def _in_hand(self, source: SourceFile) -> None:
        """Its tree is being worked on."""
        self._held = source
        self.modules.hold(source)


def resolve_project(project: Project, table: Table) -> Iterator[FileResolution]:
    """Resolve every file the user asked for, in order."""
    resolver = Resolver(project, table)
    for source in project.files:
        yield resolver.file(source)
