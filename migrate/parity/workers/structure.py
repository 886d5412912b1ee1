"""A model's modules, parameters and buffers as plain data, the same for both frameworks."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

from migrate.parity.workers import user_code


@dataclass(frozen=True)
class Place:
    """A line of source."""

    file: str
    line: int
    # Where in the line, in bytes as Python counts them; -1 if it is not known.
    column: int = -1

    @property
    def text(self) -> str:
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        relative = os.path.relpath(self.file)
        return f"{self.file if relative.startswith('..') else relative}:{self.line}"


@dataclass(frozen=True)
class Variable:
    """A parameter or buffer: `name` is its first full name, so that tied ones share it."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    trainable: bool
    buffer: bool = False


@dataclass(frozen=True)
class ModuleInfo:
    """One submodule, in order of definition."""

    path: str
    type: str
    arguments: str = ""
    created: Place | None = None
    forward: Place | None = None
    variables: dict[str, Variable] = field(default_factory=dict)
    # The Python module that defines the type: torch.nn.modules.conv, or the user's own.
    module: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.type}({self.arguments})"


def from_json(data: dict[str, Any]) -> ModuleInfo:
    return ModuleInfo(
        path=data["path"],
        type=data["type"],
        arguments=data["arguments"],
        created=Place(**data["created"]) if data["created"] else None,
        forward=Place(**data["forward"]) if data["forward"] else None,
        variables={
            local: Variable(v["name"], tuple(v["shape"]), v["dtype"], v["trainable"], v["buffer"])
            for local, v in data["variables"].items()
        },
        module=data.get("module", ""),
    )


def forward_place(method: Any) -> Place | None:
    """Where a forward or construct method is written."""
    code = getattr(getattr(method, "__func__", method), "__code__", None)
    return Place(code.co_filename, code.co_firstlineno) if code else None


def user_frame(depth: int = 2) -> Place | None:
    """The innermost line on the stack that belongs to neither a framework nor this package."""
    frame: Any = sys._getframe(depth)
    while frame is not None:
        if user_code.is_user_file(frame.f_code.co_filename):
            return _place(frame)
        frame = frame.f_back
    return None


def _place(frame: Any) -> Place:
    """The call that a frame is in the middle of; its column is known from Python 3.11 on."""
    positions = getattr(frame.f_code, "co_positions", None)
    column = None
    if positions is not None:
        column = next(islice(positions(), frame.f_lasti // 2, None))[2]
    return Place(frame.f_code.co_filename, frame.f_lineno, -1 if column is None else column)


@contextmanager
def watch_construction(base: type) -> Iterator[Callable[[Any], Place | None]]:
    """Note, while a model is built, which user line made each module."""
    places: dict[int, Place] = {}
    alive: list[Any] = []
    original = base.__init__  # type: ignore[misc]

    def noted(self: Any, *args: Any, **kwargs: Any) -> None:
        place = user_frame()
        if place is not None and id(self) not in places:
            places[id(self)] = _caller_of_init(self, place)
            alive.append(self)
        original(self, *args, **kwargs)

    base.__init__ = noted  # type: ignore[misc]
    try:
        yield lambda module: places.get(id(module))
    finally:
        base.__init__ = original  # type: ignore[misc]


def _caller_of_init(module: Any, place: Place) -> Place:
    """A user class is made where its constructor is called, not where it calls super().__init__."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        own = frame.f_code.co_name == "__init__" and frame.f_locals.get("self") is module
        name = frame.f_code.co_filename
        if not own and (user_code.is_user_file(name) or name.startswith("<")):
            return place if name.startswith("<") else _place(frame)
        frame = frame.f_back
    return place
