"""What the top level of a module binds, by place: a table that stays when the tree is given up.

`def pool(x): ...` on lines 40 to 52 is kept as ("pool", 40, 52). Whoever asks for `pool` has these
lines parsed, and no others, without the bodies of functions: those are read when a call leads there
(`evict_bodies.restore`). A file is parsed as a whole once, however often memory runs out.
"""

from __future__ import annotations

import ast
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from migrate.project import ReadProblem, SourceFile
from migrate.resolve.run_words import may_run_text
from migrate.syntax.helper_import import is_ported
from migrate.syntax.import_planner import HELPER_MODULE

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_USUAL_LINE = 50  # characters; lines that are longer count as several


class Imported(NamedTuple):
    """An import statement; `level` is None for `import a.b`."""

    level: int | None
    module: str | None
    names: tuple[tuple[str, str | None], ...]  # each with its `as`

    def statement(self) -> ast.Import | ast.ImportFrom:
        aliases = [ast.alias(name, asname) for name, asname in self.names]
        if self.level is None:
            return ast.Import(aliases)
        return ast.ImportFrom(self.module, aliases, self.level)


class Bound(NamedTuple):
    """A definition, or the value that is assigned to names, and where it stands."""

    names: tuple[str, ...]
    defines: bool
    line: int  # of the first decorator
    column: int
    end_line: int
    end_column: int
    bodies: Sequence[int] = ()  # first and last line of each function's body in a definition

    @property
    def lines(self) -> int:
        """Of what is parsed."""
        inside = sum(self.bodies[1::2]) - sum(self.bodies[::2]) + len(self.bodies) // 2
        return self.end_line - self.line + 1 - inside


@dataclass(slots=True)
class ModuleIndex:
    """All that is known of a module without its tree."""

    digest: int  # of its text
    lines: int  # as memory and time count them
    may_run_text: bool
    ported: bool
    bindings: list[Imported | Bound]
    own_methods: frozenset[str] | None = None  # found when first asked for, as the next
    public: PublicNames | None = None


@dataclass(slots=True)
class PublicNames:
    """What a star import binds: `__all__`, or what the module defines and passes on."""

    declared: list[str] | None
    defined: list[str] = field(default_factory=list)
    stars: list[Imported] = field(default_factory=list)


def weight_of(tree: ast.Module, text: str) -> int:
    """The lines of a module; long ones count as several."""
    lines = tree.body[-1].end_lineno or 0 if tree.body else 0
    return max(lines, len(text) // _USUAL_LINE)


def index_module(tree: ast.Module, text: str) -> tuple[ModuleIndex, list[ast.AST]]:
    """The table, and the node that each of its rows stands for."""
    lines = text.split("\n")
    found = [
        (_with_bodies(row, node, lines) if isinstance(node, Definition) else row, node)
        for row, node in bindings_of(tree.body)
    ]
    named = "mindspore" in text or HELPER_MODULE in text
    index = ModuleIndex(
        digest=hash(text),
        lines=weight_of(tree, text),
        may_run_text=may_run_text(text),
        ported=named and is_ported(tree),
        bindings=[binding for binding, _ in found],
    )
    return index, [node for _, node in found]


def bindings_of(body: list[ast.stmt]) -> Iterator[tuple[Imported | Bound, ast.AST]]:
    """In the order in which they take effect, where that is decided by the first branch."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield _imported(node), node
        elif isinstance(node, Definition):
            first = min(map(_line, node.decorator_list), default=node.lineno)
            yield _bound((node.name,), node, first, defines=True), node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = tuple(target.id for target in targets if isinstance(target, ast.Name))
            if names and node.value is not None:
                yield _bound(names, node.value, node.value.lineno, defines=False), node.value
        elif isinstance(node, ast.If):
            yield from bindings_of([*node.orelse, *node.body])
        elif isinstance(node, ast.Try):
            handlers = [statement for handler in node.handlers for statement in handler.body]
            yield from bindings_of([*handlers, *node.body, *node.orelse, *node.finalbody])
        elif isinstance(node, ast.With):
            yield from bindings_of(node.body)


def _with_bodies(row: Imported | Bound, node: Definition, lines: list[str]) -> Imported | Bound:
    """With the bodies that can be left out: those that begin on a line of their own."""
    assert isinstance(row, Bound)
    bodies = array("I")
    for function in functions_in([node]):
        first = function.body[0]
        start = min([first.lineno, *map(_line, getattr(first, "decorator_list", ()))])
        head = "".join(lines[first.lineno - 1 : first.lineno]).encode()[: first.col_offset]
        if not head.strip():
            bodies.extend((start, function.end_lineno or start))
    return row._replace(bodies=bodies)


def functions_in(body: list[ast.stmt]) -> Iterator[Function]:
    """Functions of a module and of its classes; not those inside other functions."""
    for statement in body:
        if isinstance(statement, Function):
            yield statement
        elif isinstance(statement, (ast.ClassDef, ast.With)):
            yield from functions_in(statement.body)
        elif isinstance(statement, ast.If):
            yield from functions_in([*statement.body, *statement.orelse])
        elif isinstance(statement, ast.Try):
            handlers = [part for handler in statement.handlers for part in handler.body]
            yield from functions_in([*statement.body, *handlers, *statement.orelse])


def _line(node: ast.expr) -> int:
    return node.lineno


def _imported(node: ast.Import | ast.ImportFrom) -> Imported:
    names = tuple((alias.name, alias.asname) for alias in node.names)
    if isinstance(node, ast.Import):
        return Imported(None, None, names)
    return Imported(node.level, node.module, names)


def _bound(names: tuple[str, ...], node: ast.stmt | ast.expr, line: int, *, defines: bool) -> Bound:
    end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return Bound(names, defines, line, node.col_offset, *end)


def read_binding(source: SourceFile, index: ModuleIndex, bound: Bound) -> ast.AST | None:
    """The node of one row, parsed anew; None where the file does not hold it any more."""
    try:
        text, lines = text_of(source)
        if text == index.digest:
            return _parsed(lines[bound.line - 1 : bound.end_line], bound)
        now = bindings_of(ast.parse("\n".join(lines)).body)
        return next((node for row, node in now if _stands_for(row, bound)), None)
    except (ReadProblem, SyntaxError, ValueError, IndexError):
        return None


def _stands_for(row: Imported | Bound, bound: Bound) -> bool:
    return isinstance(row, Bound) and (row.names, row.defines) == (bound.names, bound.defines)


def _parsed(lines: list[str], bound: Bound) -> ast.AST | None:
    if not bound.defines:
        return ast.parse(f"({_cut(lines, bound)}\n)", mode="eval").body
    for first, last in zip(bound.bodies[::2], bound.bodies[1::2], strict=True):
        start, end = first - bound.line, last - bound.line + 1
        text = lines[start]
        lines[start:end] = [text[: len(text) - len(text.lstrip())] + "pass"]
        lines[start + 1 : start + 1] = [""] * (end - start - 1)
    # Under an `if` the definition may be indented as it stands in the file.
    head = "\n" * (bound.line - 2) + "if 1:\n" if bound.column else "\n" * (bound.line - 1)
    body = ast.parse(head + "\n".join(lines)).body
    inner = body[0].body if bound.column and isinstance(body[0], ast.If) else body
    ends = dict(zip(bound.bodies[::2], bound.bodies[1::2], strict=True))
    for function in functions_in(inner):
        left_out = ends.get(function.body[0].lineno)
        if left_out is not None:
            function.body, function.end_lineno = [], left_out
    found = (part for part in inner if isinstance(part, Definition))
    return next((part for part in found if part.name == bound.names[0]), None)


def _cut(lines: list[str], bound: Bound) -> str:
    """The text of an expression; columns count bytes."""
    if not lines:
        return ""
    encoded = [line.encode() for line in (lines[0], lines[-1])]
    if len(lines) == 1:
        return encoded[0][bound.column : bound.end_column].decode()
    ends = encoded[0][bound.column :].decode(), encoded[1][: bound.end_column].decode()
    return "\n".join([ends[0], *lines[1:-1], ends[1]])


@lru_cache(maxsize=32)
def text_of(source: SourceFile) -> tuple[int, list[str]]:
    """A file's text by its hash, and its lines, read again if that was long ago; ReadProblem where
    that fails.
    """
    text = source.read()
    return hash(text), text.split("\n")


# Star imports -------------------------------------------------------------------------------------


def public_names(tree: ast.Module) -> PublicNames:
    """What the tree says of star imports from it."""
    declared = _declared_all(tree)
    if declared is not None:
        return PublicNames(declared)
    names = [name for name in _top_level_names(tree) if not name.startswith("_")]
    return PublicNames(None, names, [_imported(node) for node in _star_imports(tree)])


def _declared_all(tree: ast.Module) -> list[str] | None:
    """The names of `__all__`, or None where it is missing or computed."""
    found: list[str] | None = None
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                found = _names_in(value)
            case (
                ast.AugAssign(target=ast.Name(id="__all__"), value=value)
                | ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Name(id="__all__"), attr="extend"),
                        args=[value],
                    )
                )
            ):
                more = _names_in(value)
                if found is None or more is None:
                    return None
                found += more
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="__all__")))):
                return None
    return found


def _names_in(value: ast.expr) -> list[str] | None:
    if not isinstance(value, (ast.List, ast.Tuple)):
        return None
    if not all(isinstance(element, ast.Constant) for element in value.elts):
        return None
    return [str(element.value) for element in value.elts if isinstance(element, ast.Constant)]


def _top_level_names(tree: ast.Module) -> list[str]:
    names: list[str] = []
    for statement in _top_level(tree):
        if isinstance(statement, Definition):
            names.append(statement.name)
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            names += [
                a.asname or a.name.partition(".")[0] for a in statement.names if a.name != "*"
            ]
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.For)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names += [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return list(dict.fromkeys(names))


def _star_imports(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    for statement in _top_level(tree):
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            yield statement


def _top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements of the module's own scope, also those below `if`, `try` and `with`."""
    pending: list[ast.stmt] = list(reversed(tree.body))
    while pending:
        statement = pending.pop()
        yield statement
        if isinstance(statement, (ast.If, ast.Try, ast.With)):
            inner = [s for s in ast.iter_child_nodes(statement) if isinstance(s, ast.stmt)]
            pending += reversed(inner)
