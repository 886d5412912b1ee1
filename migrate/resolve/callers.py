"""What callers in other files pass: `accuracy(model(x), y)` in train.py says what metrics.py gets.

A file is resolved by itself first. Where a parameter stays unknown, the files that import it are
interpreted for their calls: once by themselves and, where their own parameters are unknown, once
more with what *their* callers pass. Each of these rounds depends on the files alone, not on the
order in which they are asked for, so that one process and several give the same answer.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable
from contextlib import suppress
from itertools import islice

from migrate.project import ReadProblem, SourceFile
from migrate.resolve.look import Hints, Look
from migrate.resolve.module_scope import ModuleScope
from migrate.resolve.modules import Modules
from migrate.resolve.values import UNKNOWN, ProjectFunction, join

Recorded = dict[tuple[str, int], Hints]  # (path, level) -> calls into other files

_ROUNDS = 2
_MOST_IMPORTERS = 40  # a module that everybody imports: the first of them tell enough
# Files looked at for their calls wait for their own turn; beyond so many lines they are let go, and
# looked at anew.
_LINES_WAITING = 30_000
# What a look leaves behind in circles (functions inside of functions, and their frames) is cleared
# now and then.
_LINES_BETWEEN_COLLECTIONS = 80_000
_WORTH_FREEING = 30_000  # lines of whole trees


class Callers:
    """Collects, on demand, what the functions of a file are called with elsewhere."""

    def __init__(
        self, modules: Modules, look_at: Callable[[SourceFile, str], Look], limit: int
    ) -> None:
        """`limit` is the weight of modules beyond which they are forgotten between two files."""
        self._modules = modules
        self._look_at = look_at
        self._limit = limit
        # Those that are only imported are not looked at for their calls: a library of a thousand
        # files would be interpreted for the sake of one.
        self._asked = frozenset(modules.project.files)
        self._recorded: Recorded = {}
        self._waiting: dict[str, Look] = {}
        self._lines = 0
        self._looked_at = 0  # lines since the last collection

    @property
    def recorded(self) -> Recorded:
        """What was recorded of calls so far; it refers to no tree."""
        return self._recorded

    def make_room(self) -> None:
        """Forget all modules if they have grown too heavy: no file may be in hand."""
        heavy = self._modules.weight > self._limit
        if heavy:
            self._forget_modules()
        if heavy or self._looked_at > _LINES_BETWEEN_COLLECTIONS:
            self._looked_at = 0
            gc.collect()

    def forget(self) -> None:
        """Nothing will be asked any more: free what is known of modules, where that is much."""
        if self._modules.weight > _WORTH_FREEING:
            self._forget_modules()
            gc.collect()

    def _forget_modules(self) -> None:
        for look in self._waiting.values():
            look.scope.dismantle()
        self._waiting.clear()
        self._lines = 0
        self._modules.dismantle()

    def take(self, source: SourceFile, text: str) -> Look:
        """The first look at a file: one that waits here, or a new one."""
        look = self._waiting.pop(str(source.path), None)
        if look is not None:
            self._lines -= look.scope.lines
            if look.scope.digest == hash(text):
                return look
            self._modules.let_go(source)
        look = self._look_at(source, text)
        self._looked_at += look.scope.lines
        self._note(look)
        return look

    def refined(self, source: SourceFile, text: str) -> Look:
        """A file, looked at again with what other files pass."""
        look = self._advanced(source, text, _ROUNDS, _ROUNDS)
        look.refine(self._hints(look.scope, _ROUNDS))
        return look

    def _advanced(self, source: SourceFile, text: str, level: int, recorded: int) -> Look:
        """A look that has reached a level; the calls into it are recorded up to another one.

        While those are looked for, the file waits with the others, so that memory can be freed.
        """
        while True:
            look = self.take(source, text)
            self._advance(look, level)
            missing = self._unrecorded(look, recorded)
            if not missing:
                return look
            reached = look.level
            self._wait(look)
            del look
            for importer in missing:
                self._record_calls(importer, reached)
                self.make_room()

    def _unrecorded(self, look: Look, recorded: int) -> list[SourceFile]:
        """The files whose calls, at the level that was reached, are still to be looked for."""
        if look.level > recorded:
            return []
        importers = self._importers_of(look.scope)
        return [i for i in importers if (str(i.path), look.level) not in self._recorded]

    def _hints(self, scope: ModuleScope, rounds: int) -> Hints:
        found: Hints = {}
        path = str(scope.source.path)
        for importer in self._importers_of(scope):
            for key, hints in self._recorded[str(importer.path), rounds].items():
                if key[0] == path:
                    known = found.setdefault(key, {})
                    for name, value in hints.items():
                        known[name] = join(known.get(name, UNKNOWN), value)
        return found

    def _importers_of(self, scope: ModuleScope) -> list[SourceFile]:
        """The files that import this one and name a function of it that takes something unknown."""
        names, source = callable_names(scope), scope.source
        if not names:
            return []
        importers = self._modules.project.imports.importers(source)
        others = (i for i in importers if i in self._asked and i is not source and not i.notebook)
        scans = self._modules.project.scans
        naming = (i for i in others if scans.names_any(i.path, names))
        return list(islice(naming, _MOST_IMPORTERS))

    def _record_calls(self, source: SourceFile, level: int) -> None:
        self._recorded[str(source.path), level] = {}
        with suppress(ReadProblem, RecursionError):  # whoever asks for that file will be told
            self._wait(self._advanced(source, source.read(), level, level - 1))

    def _advance(self, look: Look, level: int) -> None:
        """Look again, with what its own callers pass, up to this level, as far as that is
        recorded.
        """
        while look.level < level and not self._unrecorded(look, level):
            look.refine(self._hints(look.scope, look.level))
            look.level += 1
            self._note(look)

    def _note(self, look: Look) -> None:
        self._recorded[str(look.scope.source.path), look.level] = look.recorder.snapshot()

    def _wait(self, look: Look) -> None:
        path = str(look.scope.source.path)
        self._waiting[path] = look
        self._modules.hold(look.scope.source)
        self._lines += look.scope.lines
        while self._lines > _LINES_WAITING and len(self._waiting) > 1:
            last = self._waiting.pop(max(self._waiting))  # files are asked for in their order
            self._lines -= last.scope.lines
            self._modules.let_go(last.scope.source)


def callable_names(scope: ModuleScope) -> set[str]:
    """What a file spells that calls a function with a parameter of which nothing is known: the
    function's name, that of its class for `__init__`; nothing for `model(x)`, `a + b`.
    """
    found = set()
    for function in scope.functions:
        if isinstance(function.node, ast.Lambda) or "<locals>" in function.qualified:
            continue
        if not _has_unknown_parameter(function):
            continue
        name = function.node.name
        if name == "__init__" and function.owner is not None:
            name = function.owner.node.name
        elif name == "forward" or name.startswith("__"):
            name = ""  # any file has that
        found.add(name)
    return found


def _has_unknown_parameter(function: ProjectFunction) -> bool:
    arguments = function.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if function.owner is not None:
        del positional[:1]
    for argument in (*positional, *arguments.kwonlyargs):
        if argument.annotation is None and argument.arg not in function.hints:
            return True
    return False
