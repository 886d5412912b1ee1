"""What callers in other files pass: `update(net(x), y, optimizer)` in train.py decides whether the
`out` of engine.py's update() carries a gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrate.flow.answer import Verdict, no, unknown
from migrate.flow.gradient import argument_given
from migrate.resolve import Resolver

if TYPE_CHECKING:
    from migrate.flow import Flow
    from migrate.project import SourceFile

_MOST_FILES = 20  # that import the one in hand and are resolved for their calls
_MOST_LINES = 15_000  # of files that stay resolved


class CallersElsewhere:
    """Answers for the functions of one file; the files that import it are resolved when asked."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._found: list[tuple[Flow, ast.Call, str]] | None = None

    def carries(self, function: ast.AST, name: str) -> Verdict:
        """Does what other files pass for an argument carry a gradient?"""
        given = self.given(function, name)
        if not given:
            return unknown(f"who passes {name} is not known")
        answers = [flow.gradient.carries(node) for flow, node in given if node is not None]
        return next((one for one in answers if one.yes), next(iter(answers), no()))

    def given(self, function: ast.AST, name: str) -> list[tuple[Flow, ast.expr | None]]:
        """What other files pass for an argument, None where that is not to be seen."""
        qualified = self._names.get(function, "")
        return [
            (flow, argument_given(call, name, function))
            for flow, call, called in self._calls()
            if called == qualified
        ]

    @property
    def _names(self) -> dict[ast.AST, str]:
        scope = self._flow.symbols.scope
        return {f.node: f.qualified for f in scope.functions} if scope is not None else {}

    def _calls(self) -> list[tuple[Flow, ast.Call, str]]:
        if self._found is None:
            self._found = list(self._look())
        return self._found

    def _look(self) -> Iterator[tuple[Flow, ast.Call, str]]:
        scope, project = self._flow.symbols.scope, self._flow.modules.project
        if scope is None:
            return
        importers = [s for s in project.imports.importers(scope.source) if s in project.files]
        others = [s for s in importers if s is not scope.source and not s.notebook]
        resolved = _resolved_files(self._flow)
        for source in others[:_MOST_FILES]:
            yield from resolved.calls_into(source, scope.source)


class _ResolvedFiles:
    """Files that were resolved for the calls that they make: once for all who ask, and apart from
    the file in hand, whose tree is worked on.
    """

    def __init__(self, flow: Flow) -> None:
        self._project, self._table = flow.modules.project, flow.table
        self._flow_of = flow.__class__
        self._start()

    def _start(self) -> None:
        self._resolver = Resolver(self._project, self._table)
        self._found: dict[str, list[tuple[str, Flow, ast.Call, str]]] = {}
        self._lines = 0

    def calls_into(
        self, source: SourceFile, target: SourceFile
    ) -> list[tuple[Flow, ast.Call, str]]:
        """The calls of one file into another, with the flow that they stand in."""
        key = str(source.path)
        if key not in self._found:
            if self._lines > _MOST_LINES:
                self._start()
            self._found[key] = list(self._calls_of(source))
        wanted = str(target.path)
        return [(flow, call, name) for path, flow, call, name in self._found[key] if path == wanted]

    def _calls_of(self, source: SourceFile) -> Iterator[tuple[str, Flow, ast.Call, str]]:
        resolution = self._resolver.file(source)
        if resolution.scope is None:
            return
        modules = self._resolver.modules
        modules.hold(source)
        self._lines += resolution.scope.lines
        flow = self._flow_of(resolution, modules, self._resolver.interpreter)
        for site in flow.calls.callees(flow.tree):
            for target in (*site.targets, *flow.calls.constructors(site.node)):
                path = str(target.module.source.path)
                if path != str(source.path):
                    yield path, flow, site.node, target.qualified


def _resolved_files(flow: Flow) -> _ResolvedFiles:
    found = flow.modules.resolved_for_calls
    if not isinstance(found, _ResolvedFiles):
        found = flow.modules.resolved_for_calls = _ResolvedFiles(flow)
    return found
