"""Modules of the program: what their imports mean, loaded when a name of theirs is first needed."""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from migrate.project import Project, ReadProblem, SourceFile, parse
from migrate.resolve.budget import check_expressions
from migrate.resolve.evict_bodies import restore
from migrate.resolve.frames import Frame
from migrate.resolve.module_index import ModuleIndex, index_module
from migrate.resolve.module_scope import Deferred, ModuleScope
from migrate.resolve.values import ProjectClass, ProjectFunction, ProjectModule, Value, external
from migrate.syntax.ast_index import forget_index
from migrate.syntax.import_planner import HELPER_MODULE

if TYPE_CHECKING:
    from migrate.table import Table

# Trees take about 1 kB a line: keep those of recently used modules whole.
_LINES_KEPT = 30_000
_OUTLINE = 3  # lines of a module without its bodies that weigh as much as one line of a whole tree


class Modules:
    """The program's modules by dotted name."""

    def __init__(self, project: Project, table: Table) -> None:
        self.project = project
        self.table = table
        self._asked = {file.module for file in project.files}
        self._loaded: dict[str, ModuleScope | None] = {}
        self._whole: OrderedDict[str, int] = OrderedDict()  # path -> lines, oldest first
        self._lines = 0  # of whole trees
        self._resting: dict[str, int] = {}  # path -> weight of what else is kept of a module
        self._rest = 0
        # What is known of files without their trees stays; None for one that cannot be read.
        self._indexes: dict[str, ModuleIndex | None] = {}
        self._held: set[str] = set()  # paths of files that are being worked on
        # Of a class of another file; asked of the interpreter that works now.
        self.bases_of: Callable[[ProjectClass, Frame], list[Value]] = lambda cls, frame: []
        # See migrate.flow: which functions are compiled, and files resolved for their calls.
        self.compiled: object | None = None
        self.resolved_for_calls: object | None = None

    @property
    def weight(self) -> int:
        """Of all modules in memory, in lines of whole trees: what a long run can let go of."""
        return self._lines + self._rest

    def is_asked(self, name: str) -> bool:
        """A module that the user wants to port."""
        return name in self._asked

    def is_library(self, name: str) -> bool:
        """Below a package that the table is about, and no part of what the user wants to port."""
        return name.partition(".")[0] in self.table.roots and name not in self._asked

    def reference(self, name: str, near: SourceFile) -> Value:
        """What `import name` gives."""
        if name.rpartition(".")[2] == HELPER_MODULE:
            return external(HELPER_MODULE)
        if self.is_library(name) or self.project.find(name, near) is None:
            return external(name)
        return ProjectModule(name)

    def load(self, name: str, near: SourceFile | None = None) -> ModuleScope | None:
        """The module's tree and frame; None when there is no such file or it cannot be read."""
        source = self.project.find(name, near)
        if source is None:
            return None
        key = str(source.path)
        if key in self._loaded:
            if key in self._whole:
                self._whole.move_to_end(key)
            return self._loaded[key]
        scope = self._read(source)
        self.keep(source, scope)
        return scope

    def _read(self, source: SourceFile) -> ModuleScope | None:
        """A module to be imported from: without a tree, if it has been read before."""
        key = str(source.path)
        if key in self._indexes:
            index = self._indexes[key]
            return None if index is None else ModuleScope(source, index)
        try:
            text = source.read()
            tree = parse(source, text)
            index, nodes = _index(source, tree, text)
        except ReadProblem:
            self._indexes[key] = None
            return None
        self._indexes[key] = index
        return ModuleScope(source, index, tree, nodes)

    def begin(self, source: SourceFile, text: str) -> ModuleScope:
        """The file is taken in hand: a scope of its own, with a whole tree; ReadProblem says why
        there is none.
        """
        key = str(source.path)
        known = self._loaded.get(key)
        if known is not None and known.whole and known.digest == hash(text):
            # Another file's imports have led here before.
            scope = ModuleScope(source, known.index, known.tree)
        else:
            tree = parse(source, text)
            scope = ModuleScope(source, _index(source, tree, text)[0], tree)
        if self._indexes.get(key) is None:
            self._indexes[key] = scope.index
        self.keep(source, scope)
        self.hold(source)
        return scope

    def node_of(self, deferred: Deferred) -> ast.AST | None:
        """What was left to be looked at, read from the file if the tree was given up."""
        if deferred.node is not None:
            return deferred.node
        scope = deferred.module
        node = scope.node(deferred.number)
        path = str(scope.source.path)
        if not scope.whole and self._loaded.get(path) is scope:
            self._rests(path, scope.lines_read)
        return node

    def hold(self, source: SourceFile) -> None:
        """Its tree is being worked on: it keeps its bodies."""
        self._held.add(str(source.path))

    def let_go(self, source: SourceFile) -> None:
        self._held.discard(str(source.path))

    def keep(self, source: SourceFile, scope: ModuleScope | None) -> None:
        """Remember a module; those that were not asked about for longest lose their trees."""
        key = str(source.path)
        self._loaded[key] = scope
        self._lines -= self._whole.pop(key, 0)
        self._rests(key, 0)
        if scope is None or not scope.whole:
            return
        self._whole[key] = scope.lines
        self._lines += scope.lines
        for oldest in [path for path in self._whole if path != key and path not in self._held]:
            if self._lines <= _LINES_KEPT:
                break
            self._lines -= self._whole.pop(oldest)
            dropped = self._loaded[oldest]
            if dropped is not None:
                dropped.give_up_tree()
                self._rests(oldest, dropped.lines_read or dropped.lines // _OUTLINE)

    def _rests(self, path: str, weight: int) -> None:
        self._rest += weight - self._resting.get(path, 0)
        self._resting[path] = weight

    def dismantle(self) -> None:
        """Forget all modules. Circles between scopes and functions are broken first, so that most
        is freed without a search.
        """
        for scope in self._loaded.values():
            if scope is not None:
                scope.dismantle()
        self._loaded.clear()
        self._whole.clear()
        self._held.clear()
        self._resting.clear()
        self._lines = self._rest = 0
        self.compiled = self.resolved_for_calls = None
        self.bases_of = lambda cls, frame: []

    def body_of(self, function: ProjectFunction) -> list[ast.stmt]:
        """The statements of a function, read again if they were given up."""
        node = function.node
        assert not isinstance(node, ast.Lambda)
        if not node.body:
            restore(node, function.module.source)
            forget_index(function.module.tree)
        return node.body

    def lacks_bodies(self, scope: ModuleScope) -> bool:
        """Its tree has given up the bodies of its functions, but for those read again since."""
        path = str(scope.source.path)
        return self._loaded.get(path) is scope and path not in self._whole


def _index(source: SourceFile, tree: ast.Module, text: str) -> tuple[ModuleIndex, list[ast.AST]]:
    """BudgetSpent for a file with more expressions than its lines are worth."""
    check_expressions(source, tree, text, tree.body[-1].end_lineno or 0 if tree.body else 0)
    return index_module(tree, text)
