"""Where names are bound: one frame for a module, a class body or a function."""

from __future__ import annotations

import builtins

from migrate.resolve.values import UNKNOWN, ProjectClass, ProjectFunction, Value, external, join

_BUILTINS = frozenset(dir(builtins))


class Frame:
    """Names bound so far. Imports are kept apart: only they make a reference direct (`nn.Conv2d`, not `conv`)."""

    __slots__ = ("cls", "function", "globals", "imports", "locals", "parent", "scope")

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

    def bind(self, name: str, value: Value) -> None:
        frame = self._module() if name in self.globals else self
        frame.imports.pop(name, None)
        frame.locals[name] = value

    def bind_import(self, name: str, value: Value) -> None:
        self.locals.pop(name, None)
        self.imports[name] = value

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

    def snapshot(self) -> dict[str, Value]:
        return dict(self.locals)

    def merge(self, other: dict[str, Value]) -> None:
        """Join with what another branch bound."""
        mine = self.locals
        for name, value in other.items():
            known = mine.get(name)
            if known is None:
                if name not in self.imports:
                    mine[name] = value
            elif known is not value:
                mine[name] = join(known, value)

    def _module(self) -> Frame:
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame
