"""What callers in other files pass: `update(net(x), y, optimizer)` in train.py decides whether the
`out` of engine.py's update() carries a gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from migrate.flow.answer import Verdict, no, unknown
from migrate.flow.gradient import argument_given
from migrate.resolve import Resolver
from migrate.resolve.values import ProjectClass
from migrate.syntax.ast_index import nodes_of

if TYPE_CHECKING:
    from migrate.flow import Flow
    from migrate.project import SourceFile
    from migrate.resolve.module_scope import ModuleScope

_Site = tuple[str, "Flow", ast.Call, str]  # where it leads: the file, the function
_MOST_FILES = 20  # that import the one in hand and are resolved for their calls
_MOST_LINES = 15_000  # of files that stay resolved


class CallersElsewhere:
    """Answers for the functions of one file; the files that import it are resolved when asked."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._found: dict[str, list[tuple[Flow, ast.Call]]] = {}  # by the function's dotted name
        self._files: dict[SourceFile, _Calls] = {}

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
        if qualified not in self._found:
            self._found[qualified] = list(self._calls_of(qualified))
        return [
            (flow, argument_given(call, name, function)) for flow, call in self._found[qualified]
        ]

    @cached_property
    def _names(self) -> dict[ast.AST, str]:
        scope = self._flow.symbols.scope
        return {f.node: f.qualified for f in scope.functions} if scope is not None else {}

    @cached_property
    def _importers(self) -> list[SourceFile]:
        """The files that are asked, in their order."""
        scope, project = self._flow.symbols.scope, self._flow.modules.project
        if scope is None:
            return []
        importers = [s for s in project.imports.importers(scope.source) if s in project.files]
        others = [s for s in importers if s is not scope.source and not s.notebook]
        return others[:_MOST_FILES]

    def _calls_of(self, qualified: str) -> Iterator[tuple[Flow, ast.Call]]:
        """From the files that can call the function at all: most name neither it nor a class that
        has it from another one.
        """
        scope, scans = self._flow.symbols.scope, self._flow.modules.project.scans
        if scope is None:
            return
        words = _words_of_calls(qualified, scope)
        asked: set[SourceFile] = set()
        waiting = self._importers
        while naming := [s for s in waiting if not words or scans.names_any(s.path, words)]:
            for source in naming:
                words |= _other_names(words, self._calls_in(source, scope.source).flow)
            asked.update(naming)
            waiting = [source for source in waiting if source not in asked]
        for source in self._importers:
            if source in asked:
                found = self._calls_in(source, scope.source)
                yield from ((flow, call) for flow, call, name in found.sites if name == qualified)

    def _calls_in(self, source: SourceFile, target: SourceFile) -> _Calls:
        if source not in self._files:
            self._files[source] = _resolved_files(self._flow).calls_into(source, target)
        return self._files[source]


def _words_of_calls(qualified: str, scope: ModuleScope) -> set[str]:
    """What a file spells that calls a function; nothing where any file may."""
    *owners, name = qualified.split(".")
    if name == "__init__" and owners:
        return {owners[-1], *_derived({owners[-1]}, scope)}
    hidden = not name.isidentifier() or name.startswith("__") or name == "forward"
    return set() if hidden or "<locals>" in owners else {name}


def _other_names(words: set[str], flow: Flow | None) -> set[str]:
    """Names that a file gives to what has one of these: `import Block as B`, classes that derive
    from it, `make = Block`.
    """
    if not words or flow is None or flow.symbols.scope is None:
        return set()
    found = _derived(words, flow.symbols.scope)
    for alias in nodes_of(flow.tree, ast.alias):
        if alias.name in words | found and alias.asname:
            found.add(alias.asname)
    for node in nodes_of(flow.tree, ast.Assign):
        named = getattr(node.value, "attr", getattr(node.value, "id", ""))
        if named in words | found:
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found - words


def _derived(words: set[str], scope: ModuleScope) -> set[str]:
    """Classes of a file that derive from one of these, as far as the file shows."""
    found: set[str] = set()
    for cls in scope.classes:
        bases = [base for base in cls.lineage() if isinstance(base, ProjectClass)]
        if any(base.node.name in words for base in bases):
            found.add(cls.node.name)
    return found - words


class _Calls(NamedTuple):
    """The calls of one file into another, and the flow that they stand in."""

    flow: Flow | None
    sites: list[tuple[Flow, ast.Call, str]]


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
        self._found: dict[str, tuple[Flow | None, list[_Site]]] = {}
        self._lines = 0

    def calls_into(self, source: SourceFile, target: SourceFile) -> _Calls:
        key = str(source.path)
        if key not in self._found:
            if self._lines > _MOST_LINES:
                self._start()
            flow = self._flow_in(source)
            self._found[key] = flow, list(_sites(flow, source)) if flow is not None else []
        flow, sites = self._found[key]
        wanted = str(target.path)
        return _Calls(flow, [(of, call, name) for path, of, call, name in sites if path == wanted])

    def _flow_in(self, source: SourceFile) -> Flow | None:
        resolution = self._resolver.file(source)
        if resolution.scope is None:
            return None
        modules = self._resolver.modules
        modules.hold(source)
        self._lines += resolution.scope.lines
        return self._flow_of(resolution, modules, self._resolver.interpreter)


def _sites(flow: Flow, source: SourceFile) -> Iterator[_Site]:
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
