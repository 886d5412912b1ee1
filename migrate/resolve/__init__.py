"""What does each expression mean? Names, aliases, classes across files, and which values are
tensors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from migrate.findings import Finding
from migrate.project import Project, ReadProblem, SourceFile, parse
from migrate.resolve.callers import Callers, CallRecorder, Hints
from migrate.resolve.interpreter import Interpreter
from migrate.resolve.modules import Modules, ModuleScope
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

    def __init__(self, project: Project, table: Table) -> None:
        self.modules = Modules(project, table)
        self.interpreter = Interpreter(self.modules)
        self.callers = Callers(self.modules, self._interpret)

    def _interpret(self, scope: ModuleScope, hints: Hints, recorder: CallRecorder) -> None:
        """Run a file for the calls that it makes into others."""
        interpreter = Interpreter(self.modules, recorder)
        interpreter.run(scope)
        interpreter.refine(scope, hints)

    def file(
        self,
        source: SourceFile,
        *,
        keep_types: bool = False,
        text: str | None = None,
    ) -> FileResolution:
        """Resolve one file.

        `keep_types` also keeps the value of every expression, for the porter.
        """
        try:
            text = source.read() if text is None else text
            tree = self.modules.tree_of(source, text) or parse(source, text)
        except ReadProblem as problem:
            return FileResolution(source, problem=problem.finding)
        scope = ModuleScope(source, tree, text)
        self.modules.keep(source, scope, in_hand=True)
        usages = self.interpreter.run(scope, keep_types=keep_types)
        if hints := self.callers.of(scope):
            self.interpreter.refine(scope, hints)
        ordered = sorted(
            usages.values(), key=lambda u: (u.line, u.column, -u.end_line, -u.end_column)
        )
        resolution = FileResolution(source, ordered)
        if keep_types:
            resolution.scope = scope
            resolution.types = self.interpreter.own_types or {}
            resolution.quoted = list(self.interpreter.quoted)
        return resolution


def resolve_project(project: Project, table: Table) -> Iterator[FileResolution]:
    """Resolve every file the user asked for, in order."""
    resolver = Resolver(project, table)
    for source in project.files:
        yield resolver.file(source)
