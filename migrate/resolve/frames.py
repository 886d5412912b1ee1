"""Where names are bound: one frame for a module, a class body or a function."""

from __future__ import annotations

import builtins

from migrate.resolve.values import (
    UNKNOWN,
    ProjectClass,
    ProjectFunction,
    Value,
    external,
    join,
    says_nothing,
)

_BUILTINS = frozenset(dir(builtins))
State = tuple[dict[str, Value], dict[str, Value]]


class Frame:
    """Names bound so far. Imports are kept apart: only they make a reference direct
    (`nn.Conv2d`, not `conv`).
    """

    __slots__ = ("believed", "cls", "function", "globals", "imports", "locals", "parent", "scope")

    def __init__(
        self,
        parent: Frame | None,
        scope: str,
        cls: ProjectClass | None = None,
        function: ProjectFunction | None = None,
    ) -> None:
        self.parent = parent
        self.scope = scope
        self.cls = cls
        self.function = function
        self.locals: dict[str, Value] = {}
        self.imports: dict[str, Value] = {}
        self.globals: set[str] = set()
        self.believed: set[str] = set()  # of unknown type, but for a use in the branch in hand

    def bind(self, name: str, value: Value) -> None:
        frame = self._module() if name in self.globals else self
        frame.imports.pop(name, None)
        frame.locals[name] = value

    def bind_import(self, name: str, value: Value) -> None:
        frame = self._module() if name in self.globals else self
        frame.locals.pop(name, None)
        frame.imports[name] = value

    def find(self, name: str) -> tuple[Value, bool]:
        """The value of a name and whether an import bound it."""
        frame: Frame | None = self
        while frame is not None:
            # A class body's names are seen by the body itself, not by the functions in it.
            if frame.cls is None or frame is self:
                if name in frame.locals:
                    return frame.locals[name], False
                if name in frame.imports:
                    return frame.imports[name], True
            frame = frame.parent
        return (external(f"builtins.{name}"), True) if name in _BUILTINS else (UNKNOWN, False)

    def snapshot(self) -> State:
        return dict(self.locals), dict(self.imports)

    def restore(self, state: State) -> None:
        self.locals, self.imports = dict(state[0]), dict(state[1])

    def merge(self, other: State) -> None:
        """Join with what another branch bound.

        An import beats the None that stands in when it fails. What a use proves in one branch
        says nothing of the other.
        """
        mine = self.locals
        for name, value in other[1].items():
            if name not in mine or says_nothing(mine[name]):
                mine.pop(name, None)
                self.imports.setdefault(name, value)
        for name, value in other[0].items():
            known = mine.get(name)
            if known is None:
                if name not in self.imports or not says_nothing(value):
                    self.imports.pop(name, None)
                    mine[name] = value
            elif known is not value:
                open_still = name in self.believed and (known is UNKNOWN or value is UNKNOWN)
                mine[name] = UNKNOWN if open_still else join(known, value)

    def _module(self) -> Frame:
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame
