"""The tensors that a module's own forward or construct binds, statement by statement.

Hooks see what goes into submodules and what comes out of them. What functional code does in
between is seen here: Python's line events tell when a statement has run, and the tensors under
the names it mentions are taken where they are new or have changed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from migrate.parity.request import inputs
from migrate.parity.workers import user_code
from migrate.syntax.access import is_read

_HELPERS = "ms_migrate_helpers.py"
_MOST_EVENTS = 400
_MOST_ELEMENTS = 64_000_000
_LONGEST = 160
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
RESULT = "return"
_SIZES = ("shape", "dtype", "device", "ndim", "size", "dim", "numel", "is_cuda")
_OF_THE_SHAPE = (*_SIZES, "new_zeros", "new_ones", "new_full", "new_empty")


@dataclass(frozen=True)
class Statement:
    """A statement of a file; of a compound one, its head."""

    file: str
    line: int
    end: int
    text: str
    # Names and attributes of `self` that it mentions, and those of them whose value it uses.
    names: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


@dataclass
class Bound:
    """One tensor after a statement has run: under which name, and where it is kept."""

    statement: Statement
    name: str
    way: str
    key: str
    size: int = 0
    # How often the statement had run before.
    earlier: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def from_json(data: dict[str, Any]) -> Bound:
    where = data["statement"]
    lists = {field: tuple(where[field]) for field in ("names", "reads")}
    return Bound(**{**data, "statement": Statement(**{**where, **lists})})


@dataclass
class Trace:
    """Takes the tensors of one call of one module."""

    is_tensor: Callable[[Any], bool]
    # What tells whether a tensor has changed since it was last seen.
    version: Callable[[Any], Any]
    take: Callable[[str, Any], None]
    bound: list[Bound] = field(default_factory=list)
    _inside: int = 0
    _elements: int = 0
    _alive: list[Any] = field(default_factory=list)
    _runs: dict[tuple[str, int], int] = field(default_factory=dict)

    @contextmanager
    def watching(self, parts: Iterable[Any]) -> Iterator[None]:
        """While this lasts, user code outside the given submodules is followed."""
        handles = []
        for part in parts:
            handles.append(part.register_forward_pre_hook(self._enter))
            handles.append(part.register_forward_hook(self._leave))
        before = sys.gettrace()
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)
            for handle in handles:
                handle.remove()

    def _enter(self, *_: Any) -> None:
        self._inside += 1

    def _leave(self, *_: Any) -> None:
        self._inside -= 1

    def _call(self, frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        name = code.co_filename
        # Comprehensions and class bodies bind nothing that a statement after them could name.
        if self._inside or code.co_name.startswith("<") or name.endswith(_HELPERS):
            return None
        if not user_code.is_user_file(name) or "site-packages" in name:
            return None
        return _Frame(self).event

    def note(self, frame: Any, line: int, seen: dict[str, Any], result: Any) -> None:
        """Take what a statement that has just run has bound or changed."""
        statement = statement_at(frame.f_code.co_filename, line)
        if statement is None:
            return
        place = (statement.file, statement.line)
        earlier = self._runs.get(place, 0)
        self._runs[place] = earlier + 1
        values: dict[str, Any] = {
            name: value for name in statement.names if (value := _lookup(frame, name)) is not None
        }
        if result is not None:
            values[RESULT] = result
        for name, value in values.items():
            for way, tensor in inputs.flatten(value, self.is_tensor):
                version = self.version(tensor)
                if seen.get(name + way) != version:
                    seen[name + way] = version
                    self._keep(statement, name, way, tensor, earlier)

    def _keep(self, statement: Statement, name: str, way: str, tensor: Any, earlier: int) -> None:
        size = 1
        for length in tensor.shape:
            size *= int(length)
        self._elements += size
        if len(self.bound) >= _MOST_EVENTS or self._elements > _MOST_ELEMENTS:
            return
        key = f"bound:{len(self.bound)}"
        self._alive.append(tensor)  # so that its identity stays its own
        self.take(key, tensor)
        self.bound.append(Bound(statement, name, way, key, size, earlier))


class _Frame:
    """The events of one frame: a line event says that the line before it is done."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._line = 0
        self._seen: dict[str, Any] = {}

    def event(self, frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            if not self._line:
                self._know_arguments(frame)
            elif not _same_statement(frame.f_code.co_filename, self._line, frame.f_lineno):
                self._trace.note(frame, self._line, self._seen, None)
            self._line = frame.f_lineno
        elif event == "return" and self._line:
            self._trace.note(frame, self._line, self._seen, argument)
        return self.event

    def _know_arguments(self, frame: Any) -> None:
        for name, value in frame.f_locals.items():
            for way, tensor in inputs.flatten(value, self._trace.is_tensor):
                self._seen[name + way] = self._trace.version(tensor)


def _lookup(frame: Any, name: str) -> Any:
    """A local variable, or an attribute of `self`."""
    head, _, attribute = name.partition(".")
    value = frame.f_locals.get(head)
    return vars(value).get(attribute) if attribute and hasattr(value, "__dict__") else value


def _same_statement(file: str, line: int, other: int) -> bool:
    """A statement of several lines has an event for each; a loop comes back to its own."""
    first, second = statement_at(file, line), statement_at(file, other)
    return first is not None and first == second and line != other


def statement_at(file: str, line: int) -> Statement | None:
    """The statement that a line belongs to."""
    return _statements(file).get(line)


@cache
def _statements(file: str) -> dict[int, Statement]:
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError):
        return {}
    found: dict[int, Statement] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, _SCOPES):
            head = _head(node)
            end = max((part.end_lineno or node.lineno for part in head), default=node.lineno)
            mentioned = dict(_names(node, head))
            reads = tuple(name for name, read in mentioned.items() if read)
            made = Statement(file, node.lineno, end, _text(node, head), tuple(mentioned), reads)
            # Outer statements come first in a walk, and leave the lines of inner ones to them.
            found.update(dict.fromkeys(range(node.lineno, end + 1), made))
    return found


def _head(node: ast.stmt) -> list[Any]:
    """The parts of a statement that run on its own lines."""
    if isinstance(node, (ast.If, ast.While)):
        return [node.test]
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return [node.target, node.iter]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [item.context_expr for item in node.items]
    if isinstance(node, ast.Match):
        return [node.subject]
    return [] if isinstance(node, ast.Try) else [node]


def _text(node: ast.stmt, head: list[Any]) -> str:
    if head == [node]:
        text = " ".join(ast.unparse(node).split())
    else:
        text = ast.unparse(node).partition("\n")[0]
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _names(node: ast.stmt, head: list[Any]) -> Iterator[tuple[str, bool]]:
    """The names of a statement, and whether it reads them; a name that is read comes last."""
    found: dict[str, bool] = {}
    for part in head:
        shapes = set(_shape_reads(part))
        for inner in ast.walk(part):
            name = ""
            if isinstance(inner, ast.Name) and inner.id != "self":
                name = inner.id
            elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
                name = f"self.{inner.attr}" if inner.value.id == "self" else ""
            if name:
                read = is_read(inner) and inner not in shapes
                found[name] = found.get(name, False) or read
    if isinstance(node, ast.AugAssign):
        found |= {name: True for name, _ in _names(ast.Expr(node.target), [node.target])}
    yield from found.items()


def _shape_reads(part: ast.AST) -> Iterator[ast.AST]:
    """Expressions of which only shape, dtype or device is used: `h` in `zeros_like(h)`, `h.shape`.

    What is made of them agrees even where their values do not.
    """
    for inner in ast.walk(part):
        if isinstance(inner, ast.Attribute) and inner.attr in _OF_THE_SHAPE:
            yield inner.value
        elif isinstance(inner, ast.Call) and inner.args:
            called = inner.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name.endswith("_like") or name == "len":
                yield inner.args[0]
