"""One file as it was interpreted: its scope, and the calls that it makes into other files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from migrate.resolve.members import class_is_module
from migrate.resolve.values import (
    MODULE,
    UNKNOWN,
    Container,
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

if TYPE_CHECKING:
    from migrate.resolve.interpreter import Interpreter
    from migrate.resolve.module_scope import ModuleScope

Hints = dict[tuple[str, str], dict[str, Value]]  # (path, qualified name) -> parameter -> value


class CallRecorder:
    """The calls that one file makes into others."""

    def __init__(self) -> None:
        self._hints: Hints = {}

    def record(self, function: ProjectFunction, hints: dict[str, Value]) -> None:
        key = str(function.module.source.path), function.qualified
        found = self._hints.setdefault(key, {})
        for name, value in hints.items():
            found[name] = join(found.get(name, UNKNOWN), _portable(value))

    def snapshot(self) -> Hints:
        """What was recorded so far."""
        return {key: dict(hints) for key, hints in self._hints.items()}


class Look:
    """A file, interpreted once by itself and again with what its callers pass; `level` counts."""

    def __init__(
        self, scope: ModuleScope, interpreter: Interpreter, recorder: CallRecorder
    ) -> None:
        self.scope = scope
        self.interpreter = interpreter
        self.recorder = recorder
        self.level = 1
        interpreter.run(scope)

    def refine(self, hints: Hints) -> None:
        if hints:
            self.interpreter.refine(self.scope, hints)


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
    if isinstance(value, Container):
        return Instance(value.cls)  # what is in it belongs to the file that made it
    if isinstance(value, Instance) and isinstance(value.cls, ProjectClass):
        return MODULE if class_is_module(value.cls) else UNKNOWN
    return UNKNOWN
