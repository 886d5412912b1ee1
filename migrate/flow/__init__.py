"""Facts about the whole program, each asked in one place; an answer is yes, no or unknown.

    flow = Flow(resolution, modules)      one for a file; everything is computed when first asked
    f = flow.function(node)               a FunctionDef, a Lambda, or the Module
    f = flow.around(node)                 the function that an expression stands in

    f.cfg        control flow: may_follow, dominates, exclusive, in_loop, statement_of
    f.defuse     reaching, uses, definitions, live_after, read_after, next_reads, maybe_unbound
    f.aliases    may_alias, observers (who else sees a write), is_fresh
    flow.effects of_call, summary: what functions, methods and layers do to their arguments
    flow.calls   targets, callees, reachable: the call graph, over files
    flow.dtypes  of, changes: dtypes that the program states
    flow.gradient  carries, is_recorded, depends: where gradients flow
    flow.grad_regions  cuts, stops, context: what runs where nothing is recorded
    flow.modes   at, sources: is a module in training mode here, and who decides it
    f.names      changes, mutates, writes: names that a statement changes, aliases included
    region       region_inputs, region_outputs, region_carried, may_move: runs of statements

All questions take the ast nodes of the resolved tree; nothing here knows about rewriting.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, cast

from migrate.flow.answer import Answer, Verdict
from migrate.flow.call_graph import CallGraph
from migrate.flow.callers_elsewhere import CallersElsewhere
from migrate.flow.dtypes import Dtypes
from migrate.flow.effects import Effects
from migrate.flow.empty_tensors import EmptyTensors
from migrate.flow.events import Definition, Scope
from migrate.flow.function import FunctionFlow
from migrate.flow.given_views import GivenViews
from migrate.flow.grad_regions import GradRegions
from migrate.flow.gradient import Gradient
from migrate.flow.symbols import Symbols
from migrate.flow.training_mode import TrainingMode
from migrate.flow.wide_scalars import WideScalars
from migrate.syntax.ast_index import all_nodes, child_nodes

if TYPE_CHECKING:
    from migrate.resolve import FileResolution
    from migrate.resolve.interpreter import Interpreter
    from migrate.resolve.modules import Modules
    from migrate.resolve.values import ProjectFunction
    from migrate.table import Table

__all__ = ["Answer", "Definition", "Flow", "FunctionFlow", "Verdict"]
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Flow:
    """The facts about one file and what it calls in others."""

    def __init__(
        self,
        resolution: FileResolution,
        modules: Modules,
        interpreter: Interpreter | None = None,
    ) -> None:
        assert resolution.scope is not None
        self.tree = resolution.scope.tree
        self.modules = modules
        self.table: Table = modules.table
        self.symbols = Symbols(resolution, interpreter)
        self._functions: dict[ast.AST, FunctionFlow] = {}
        self._foreign: dict[ast.AST, ast.AST] = {}  # nodes of other files -> the function around

    @cached_property
    def effects(self) -> Effects:
        return Effects(self)

    @cached_property
    def calls(self) -> CallGraph:
        return CallGraph(self)

    @cached_property
    def dtypes(self) -> Dtypes:
        return Dtypes(self)

    @cached_property
    def modes(self) -> TrainingMode:
        return TrainingMode(self)

    @cached_property
    def callers_elsewhere(self) -> CallersElsewhere:
        return CallersElsewhere(self)

    @cached_property
    def views(self) -> GivenViews:
        return GivenViews(self)

    @cached_property
    def scalars(self) -> WideScalars:
        return WideScalars(self)

    @cached_property
    def grad_regions(self) -> GradRegions:
        return GradRegions(self)

    @cached_property
    def empties(self) -> EmptyTensors:
        return EmptyTensors(self)

    @cached_property
    def gradient(self) -> Gradient:
        return Gradient(self)

    def function(self, node: ast.AST) -> FunctionFlow:
        found = self._functions.get(node)
        if found is None:
            found = self._functions[node] = FunctionFlow(cast(Scope, node), self)
        return found

    def of(self, function: ProjectFunction) -> FunctionFlow:
        """The flow of a function of the program, wherever it is defined."""
        body = self.body_of(function)
        self.symbols.enter(function)
        if function.node not in self._functions and function.node not in self._scopes:
            for statement in body:
                for node in all_nodes(statement):
                    self._foreign.setdefault(node, function.node)
        return self.function(function.node)

    def body_of(self, function: ProjectFunction) -> list[ast.stmt]:
        if isinstance(function.node, ast.Lambda):
            return [ast.copy_location(ast.Return(function.node.body), function.node.body)]
        return self.modules.body_of(function)

    def around(self, node: ast.AST) -> FunctionFlow | None:
        """The function, or the module, whose statements evaluate a node."""
        scope = self._scopes.get(node) or self._foreign.get(node)
        return self.function(scope) if scope is not None else None

    @cached_property
    def _scopes(self) -> dict[ast.AST, ast.AST]:
        """Every node of the file, with the innermost scope around it."""
        found: dict[ast.AST, ast.AST] = {}
        pending: list[tuple[ast.AST, ast.AST]] = [(self.tree, self.tree)]
        while pending:
            node, scope = pending.pop()
            found[node] = scope
            inner = node if isinstance(node, _SCOPES) else scope
            pending += [(child, inner) for child in child_nodes(node)]
        return found
