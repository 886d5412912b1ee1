"""Who calls whom, over all files of the program that a call can lead to."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from migrate.resolve.values import UNKNOWN, ProjectClass, ProjectFunction, options_of
from migrate.syntax.ast_index import all_nodes

if TYPE_CHECKING:
    from migrate.flow import Flow

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class CallSite:
    """One call, and the functions of the program that it may run."""

    node: ast.Call
    targets: tuple[ProjectFunction, ...]
    unknown: bool  # it may run something that we do not know


class CallGraph:
    """Calls by the types of what is called: functions, methods, layers, constructors."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._sites: dict[ast.AST, list[CallSite]] = {}

    def targets(self, call: ast.Call) -> tuple[ProjectFunction, ...]:
        return tuple(target.function for target in self._flow.symbols.targets(call))

    def callees(self, function: ast.AST) -> list[CallSite]:
        """The calls in a function, those of inner functions included."""
        found = self._sites.get(function)
        if found is None:
            found = self._sites[function] = [
                self._site(node) for node in all_nodes(function) if isinstance(node, ast.Call)
            ]
        return found

    def _site(self, call: ast.Call) -> CallSite:
        targets = self.targets(call)
        known = targets or self._flow.symbols.api(call.func)
        return CallSite(call, targets, not known and self._flow.symbols.type(call.func) is UNKNOWN)

    def reachable(self, roots: Iterable[ProjectFunction]) -> set[ProjectFunction]:
        """The roots and every function of the program that they may run."""
        found: set[ProjectFunction] = set()
        pending = list(roots)
        while pending:
            function = pending.pop()
            if function in found:
                continue
            found.add(function)
            self._flow.of(function)
            for site in self.callees(function.node):
                pending += site.targets
        return found

    def constructions(self, cls: ProjectClass) -> list[ast.Call]:
        """The calls in the file in hand that make an object of a class."""
        return [
            site.node
            for site in self.callees(self._flow.tree)
            if self._flow.symbols.type(site.node.func) is cls
        ]

    def constructors(self, call: ast.Call) -> list[ProjectFunction]:
        """The `__init__` that runs where a call makes objects of classes of the program."""
        found = []
        for made in options_of(self._flow.symbols.type(call.func)):
            lineage = made.lineage() if isinstance(made, ProjectClass) else ()
            bodies = (base.body for base in lineage if isinstance(base, ProjectClass))
            init = next((body["__init__"] for body in bodies if "__init__" in body), None)
            if isinstance(init, ProjectFunction):
                found.append(init)
        return found

    @cached_property
    def _callers(self) -> dict[ast.AST, list[ast.Call]]:
        found: dict[ast.AST, list[ast.Call]] = {}
        for site in self.callees(self._flow.tree):
            for target in site.targets:
                found.setdefault(target.node, []).append(site.node)
        return found

    def callers(self, function: ast.AST) -> list[ast.Call]:
        """The calls of a function in the file in hand."""
        return self._callers.get(function, [])
