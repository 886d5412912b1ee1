"""What callers in other files pass: `accuracy(model(x), y)` in train.py says what metrics.py gets.

A file is resolved by itself first. Where a parameter stays unknown, the files that import it are
interpreted for their calls: once by themselves and, where their own parameters are unknown, once
more with what *their* callers pass. Each of these rounds depends on the files alone, not on the
order in which they are asked for, so that one process and several give the same answer.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate.project import ReadProblem, SourceFile, parse
from migrate.resolve.members import class_is_module
from migrate.resolve.modules import Modules, ModuleScope
from migrate.resolve.values import (
    MODULE,
    UNKNOWN,
    Instance,
    Known,
    ListOf,
    ProjectClass,
    ProjectFunction,
    TupleOf,
    Value,
    join,
    options_of,
    type_of_constant,
)

Hints = dict[tuple[str, str], dict[str, Value]]  # (path, qualified name) -> parameter -> value
_ROUNDS = 2
_MOST_IMPORTERS = 40  # a module that everybody imports: the first of them tell enough


class CallRecorder:
    """The calls that one file makes into others."""

    def __init__(self) -> None:
        self.hints: Hints = {}

    def record(self, function: ProjectFunction, hints: dict[str, Value]) -> None:
        key = str(function.module.source.path), function.qualified
        found = self.hints.setdefault(key, {})
        for name, value in hints.items():
            found[name] = join(found.get(name, UNKNOWN), _portable(value))


class Callers:
    """Collects, on demand, what the functions of a file are called with elsewhere."""

    def __init__(
        self, modules: Modules, interpret: Callable[[ModuleScope, Hints, CallRecorder], None]
    ) -> None:
        self._modules = modules
        self._interpret = interpret
        self._recorded: dict[tuple[str, int], Hints] = {}

    def of(self, scope: ModuleScope) -> Hints:
        """What is passed to functions of this file; empty where all their parameters are known."""
        return self._hints(scope.source, _ROUNDS) if has_unknown_parameters(scope) else {}

    def _hints(self, source: SourceFile, rounds: int) -> Hints:
        found: Hints = {}
        path = str(source.path)
        for importer in self._modules.project.imports.importers(source)[:_MOST_IMPORTERS]:
            if importer is source or importer.notebook:
                continue
            for key, hints in self._calls_of(importer, rounds).items():
                if key[0] == path:
                    known = found.setdefault(key, {})
                    for name, value in hints.items():
                        known[name] = join(known.get(name, UNKNOWN), value)
        return found

    def _calls_of(self, source: SourceFile, rounds: int) -> Hints:
        key = str(source.path), rounds
        if key in self._recorded:
            return self._recorded[key]
        self._recorded[key] = {}
        recorder = CallRecorder()
        try:
            text = source.read()
            scope = ModuleScope(source, parse(source, text), text)
            seeds = self._hints(source, rounds - 1) if rounds > 1 else {}
            if rounds > 1 and not seeds:
                self._recorded[key] = self._calls_of(source, rounds - 1)
                return self._recorded[key]
            self._interpret(scope, seeds, recorder)
        except (ReadProblem, RecursionError):
            pass  # whoever asks for that file will be told
        self._recorded[key] = recorder.hints
        return recorder.hints


def has_unknown_parameters(scope: ModuleScope) -> bool:
    """A function that others can call, with a parameter of which nothing is known."""
    for function in scope.functions:
        if isinstance(function.node, ast.Lambda) or "<locals>" in function.qualified:
            continue
        arguments = function.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        positional = positional[1:] if function.owner is not None else positional
        for argument in (*positional, *arguments.kwonlyargs):
            if argument.annotation is None and argument.arg not in function.hints:
                return True
    return False


def _portable(value: Value) -> Value:
    """What means the same in another file: library types, and lists and tuples of them."""
    found: Value = UNKNOWN
    for option in options_of(value):
        carried = _carried(option)
        if carried is UNKNOWN:
            return UNKNOWN
        found = join(found, carried)
    return found


def _carried(value: Value) -> Value:
    if isinstance(value, Known):
        return type_of_constant(value)
    if type(value) is ListOf:
        return ListOf(_portable(value.item), value.kind)
    if type(value) is TupleOf:
        return TupleOf(tuple(map(_portable, value.items)))
    if type(value) is Instance and isinstance(value.cls, str):
        return value
    if isinstance(value, Instance) and isinstance(value.cls, ProjectClass):
        return MODULE if class_is_module(value.cls) else UNKNOWN
    return UNKNOWN
