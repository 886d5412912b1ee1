"""What ms-migrate would write for a line of the torch model, to be held beside what is there.

The torch file is ported in memory, and the line's call is found again in the result by its way
through the tree: class, method, the variable it is assigned to, the argument it stands in.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from migrate.errors import RequestError
from migrate.parity.judge import source_files
from migrate.parity.request.target import Target
from migrate.parity.request.target_names import bound_names
from migrate.parity.workers.structure import Place
from migrate.syntax.access import is_store
from migrate.syntax.ast_index import nodes_of

Way: TypeAlias = list[tuple[str, int]]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BODIES = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class Ported:
    """A torch file and what becomes of it."""

    before: ast.Module
    after: ast.Module
    text: str


@cache
def port(path: str) -> Ported | None:
    """Port one file in memory; None where that cannot be done, which is no matter of parity."""
    from migrate.port.tree import Options, port_tree
    from migrate.project import discover
    from migrate.table import Table, TableError

    try:
        text = source_files.read(path)
        tree = port_tree([Path(path)], discover([Path(path)]), Table(), Options(jobs=1))
        ported = next(iter(tree.files.values()))
        if ported.problem is not None or not ported.changed:
            return None
        return Ported(ast.parse(text), ast.parse(ported.text), ported.text)
    except (TableError, RequestError, OSError, ValueError, SyntaxError, StopIteration):
        return None


def line(place: Place) -> ast.expr | None:
    """The expression that ms-migrate writes for the call at a place of a torch file."""
    ported = port(place.file)
    if ported is None:
        return None
    way = _way_to_call(ported.before, place)
    found = _follow(ported.before, ported.after, way) if way is not None else None
    return found if isinstance(found, ast.expr) else None


def statements(first: Place, last_line: int) -> list[ast.stmt]:
    """The statements that ms-migrate writes for some lines of one function of a torch file."""
    ported = port(first.file)
    if ported is None:
        return []
    found: list[ast.stmt] = []
    for way, node in _walk(ported.before, []):
        if not isinstance(node, ast.stmt) or isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            continue
        if first.line <= node.lineno and (node.end_lineno or node.lineno) <= last_line:
            other = _follow(ported.before, ported.after, way)
            if isinstance(other, ast.stmt) and not any(other in ast.walk(s) for s in found):
                found.append(other)
    return found


def apis(first: Place, last_line: int) -> list[str]:
    """The torch names called on some lines of a torch file, in order."""
    from migrate.project import discover
    from migrate.resolve import Resolver
    from migrate.table import Table, TableError

    try:
        source_files.read(first.file)
        project = discover([Path(first.file)])
        resolution = Resolver(project, Table()).file(project.files[0])
    except (TableError, RequestError, OSError, ValueError, IndexError):
        return []
    inside = [u for u in resolution.usages if first.line <= u.line <= last_line]
    called = [u.api for u in inside if u.call is not None and u.api.startswith("torch.")]
    return list(dict.fromkeys(called))


def call_at(place: Place) -> ast.expr | None:
    """The call at a place of any file, as it is written there."""
    try:
        tree = ast.parse(source_files.read(place.file))
    except (OSError, ValueError, SyntaxError):
        return None
    way = _way_to_call(tree, place)
    if way is None:
        return None
    node: Any = tree
    for name, index in way:
        node = getattr(node, name)
        node = node[index] if index >= 0 else node
    return node if isinstance(node, ast.expr) else None


def function_place(target: Target) -> Place | None:
    """Where the function that a target names begins."""
    if not target.is_file:
        return None
    try:
        tree = ast.parse(source_files.read(target.where))
    except (OSError, ValueError, SyntaxError):
        return None
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == target.name:
            return Place(target.where, node.lineno)
    return None


def function_end(place: Place) -> int:
    """The last line of the innermost function around a place; the place's own if there is none."""
    try:
        tree = ast.parse(source_files.read(place.file))
    except (OSError, ValueError, SyntaxError):
        return place.line
    ends = [
        node.end_lineno or node.lineno
        for node in nodes_of(tree, *_FUNCTIONS)
        if min([node.lineno, *(d.lineno for d in node.decorator_list)]) <= place.line
        and place.line <= (node.end_lineno or node.lineno)
    ]
    return min(ends, default=place.line)


def statement_at(place: Place) -> ast.stmt | None:
    """The innermost statement that begins at a line of any file."""
    try:
        tree = ast.parse(source_files.read(place.file))
    except (OSError, ValueError, SyntaxError):
        return None
    found = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno == place.line]
    return found[-1] if found else None


def lacking(written: ast.AST, place: Place) -> set[str] | None:
    """The names that code reads and that are not bound at a place; None if that is not known."""
    try:
        tree = ast.parse(source_files.read(place.file))
    except (OSError, ValueError, SyntaxError):
        return None
    known = {*dir(builtins), *bound_names(tree)}
    for node in nodes_of(tree, *_FUNCTIONS):
        if node.lineno <= place.line <= (node.end_lineno or 0):
            known |= _bound_in_function(node)
    inner = {n.id for n in ast.walk(written) if isinstance(n, ast.Name) and _stored(n)}
    inner |= {n.arg for n in ast.walk(written) if isinstance(n, ast.arg)}
    read = {n.id for n in ast.walk(written) if isinstance(n, ast.Name) and not _stored(n)}
    return read - known - inner


def _bound_in_function(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Its parameters and variables."""
    every = node.args
    arguments = [*every.posonlyargs, *every.args, *every.kwonlyargs]
    arguments += [one for one in (every.vararg, every.kwarg) if one is not None]
    stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _stored(n)}
    return {one.arg for one in arguments} | stored


def replaces(written: ast.stmt, there: ast.stmt) -> bool:
    """Whether one statement can take the place of another: it binds the same."""
    return type(written) is type(there) and _key(written) == _key(there)


def _stored(name: ast.Name) -> bool:
    return is_store(name)


def same(ours: ast.AST, theirs: ast.AST) -> bool:
    """Equal as code, whatever their quotes and line breaks."""
    return ast.dump(ours) == ast.dump(theirs)


def _way_to_call(tree: ast.AST, place: Place) -> Way | None:
    """The way to the call that starts at a place; without a column, to the first on its line."""
    found: Way | None = None
    for way, node in _walk(tree, []):
        if isinstance(node, ast.Call) and node.lineno == place.line:
            if node.col_offset == place.column:
                # The outermost call starts where its callee does: keep the longest.
                return way
            if found is None and place.column < 0:
                found = way
    return found


def _walk(node: ast.AST, way: Way) -> list[tuple[Way, ast.AST]]:
    """All nodes with the ways to them, outer before inner."""
    found: list[tuple[Way, ast.AST]] = []
    for name, value in ast.iter_fields(node):
        items = enumerate(value) if isinstance(value, list) else [(-1, value)]
        for index, item in items:
            if isinstance(item, ast.AST):
                here = [*way, (name, index)]
                found.append((here, item))
                found.extend(_walk(item, here))
    return found


def _follow(before: ast.AST, after: ast.AST, way: Way) -> ast.AST | None:
    """Go the same way in both trees; statements are found by what they define or assign to."""
    ours: Any = before
    theirs: Any = after
    for name, index in way:
        mine, yours = getattr(ours, name, None), getattr(theirs, name, None)
        if mine is None or yours is None:
            return None
        if index < 0:
            ours, theirs = mine, yours
            continue
        ours = mine[index]
        if not isinstance(yours, list):
            return None
        if name in _BODIES:
            theirs = counterpart(mine, index, yours)
        elif name == "keywords":
            theirs = next((word for word in yours if word.arg == ours.arg), None)
        else:
            theirs = yours[index] if index < len(yours) else None
        if theirs is None:
            return None
    return theirs if isinstance(theirs, ast.AST) else None


def counterpart(mine: list[ast.stmt], index: int, yours: list[ast.stmt]) -> ast.stmt | None:
    """The statement of the other tree that defines or assigns to the same."""
    wanted = _key(mine[index])
    number = sum(_key(statement) == wanted for statement in mine[:index])
    alike = [statement for statement in yours if _key(statement) == wanted]
    return alike[number] if number < len(alike) else None


def _key(statement: ast.stmt) -> str:
    """What a statement is known by before and after porting."""
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return "construct" if statement.name == "forward" else statement.name
    if isinstance(statement, ast.Assign):
        return ", ".join(ast.unparse(target) for target in statement.targets)
    if isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        return ast.unparse(statement.target)
    return type(statement).__name__
