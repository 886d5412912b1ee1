"""One module of the program, and what its top level binds."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import TYPE_CHECKING

from migrate.project import ReadProblem, parse
from migrate.resolve.evict_bodies import evict_bodies
from migrate.resolve.frames import Frame
from migrate.resolve.module_index import (
    Bound,
    ModuleIndex,
    PublicNames,
    public_names,
    read_binding,
)
from migrate.resolve.own_methods import own_methods
from migrate.resolve.values import ProjectClass, ProjectFunction, Value

if TYPE_CHECKING:
    from migrate.project import SourceFile


class Deferred(Value):
    """An expression or a definition of another module, not looked at yet: a node, or its number in
    the index of the module.
    """

    __slots__ = ("frame", "module", "node", "number", "value")

    def __init__(
        self, module: ModuleScope, frame: Frame, *, node: ast.expr | None = None, number: int = -1
    ) -> None:
        self.value: Value | None = None
        self.node = node
        self.number = number
        self.module = module
        self.frame = frame


class ModuleScope:
    """The file in hand has its tree. One that is only imported may have given it up: the nodes that
    were asked for stay, and others are read from the file.
    """

    __slots__ = (
        "_nodes",
        "_read",
        "classes",
        "executed",
        "frame",
        "functions",
        "index",
        "lines_read",
        "source",
        "tree",
        "whole",
    )

    def __init__(
        self,
        source: SourceFile,
        index: ModuleIndex,
        tree: ast.Module | None = None,
        nodes: list[ast.AST] | None = None,
    ) -> None:
        self.source = source
        self.index = index
        self.whole = tree is not None
        self.tree = tree or ast.Module([], [])
        self.frame = Frame(None, "")
        self.functions: list[ProjectFunction] = []
        self.classes: list[ProjectClass] = []
        self.executed = False
        self.lines_read = 0  # of single nodes, beside a whole tree
        self._nodes = nodes  # one for each row of the index
        self._read: dict[int, ast.AST | None] = {}

    @property
    def digest(self) -> int:
        """Of the text: port may have the file in hand in another form."""
        return self.index.digest

    @property
    def lines(self) -> int:
        return self.index.lines

    @property
    def may_run_text(self) -> bool:
        return self.index.may_run_text

    @property
    def ported(self) -> bool:
        return self.index.ported

    @property
    def own_methods(self) -> frozenset[str]:
        if self.index.own_methods is None:
            self.index.own_methods = own_methods(self._whole_tree())
        return self.index.own_methods

    @property
    def public(self) -> PublicNames:
        if self.index.public is None:
            self.index.public = public_names(self._whole_tree())
        return self.index.public

    def _whole_tree(self) -> ast.Module:
        if not self.whole:
            with suppress(ReadProblem):
                return parse(self.source)
        return self.tree

    def node(self, number: int) -> ast.AST | None:
        """What a row of the index stands for; None where the file is not what it was."""
        if number not in self._read:
            self._read[number] = self._find(number)
        return self._read[number]

    def _find(self, number: int) -> ast.AST | None:
        if self._nodes is not None:
            return self._nodes[number]
        bound = self.index.bindings[number]
        if not isinstance(bound, Bound):
            return None
        self.lines_read += bound.lines
        return read_binding(self.source, self.index, bound)

    def give_up_tree(self) -> None:
        """Of the file that was in hand the outline stays, of others what was asked for."""
        self.whole = False
        self._nodes = None
        if self.classes or self.functions:
            evict_bodies(self.tree)
            self.functions.clear()
            return
        self.tree = ast.Module([], [])
        rows = ((number, self.index.bindings[number]) for number in self._read)
        self.lines_read = sum(row.lines for _, row in rows if isinstance(row, Bound))

    def dismantle(self) -> None:
        """Break the circles through functions and classes: nobody will ask for them again."""
        values = [
            value.value if isinstance(value, Deferred) else value
            for value in self.frame.locals.values()
        ]
        frames = [self.frame, *(function.frame for function in self.functions)]
        for value in values:
            if isinstance(value, ProjectClass):
                frames += [m.frame for m in value.body.values() if isinstance(m, ProjectFunction)]
                value.clear()
        for frame in frames:
            frame.locals.clear()
            frame.imports.clear()
        for cls in self.classes:
            cls.clear()
        self.functions.clear()
        self.classes.clear()
        self._read.clear()
