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

_MOST_FILES = 20  # that import the one in hand and are resolved for their calls


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
        resolver = Resolver(project, self._flow.table)
        for source in others[:_MOST_FILES]:
            resolution = resolver.file(source)
            if resolution.scope is None:
                continue
            flow = self._flow.__class__(resolution, resolver.modules, resolver.interpreter)
            for site in flow.calls.callees(flow.tree):
                for target in site.targets:
                    if target.module.source == scope.source:
                        yield flow, site.node, target.qualified
