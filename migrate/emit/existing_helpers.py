"""A port into a place that holds earlier ones: their files go on needing their helpers."""

from __future__ import annotations

import ast
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from migrate.project.text import ReadProblem, read_bytes
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.import_planner import HELPER_MODULE
from migrate.table.helper_pieces import helper_index


class ExistingHelpers(NamedTuple):
    """What files of earlier ports use of a helper module."""

    names: dict[str, None]
    pieces: dict[str, str]  # texts of those that no helper file has
    users: list[str]  # texts of the files


def existing_helpers(module: Path, written: Collection[Path]) -> ExistingHelpers:
    """What other files beside a helper module, and below, use of it."""
    if not module.is_file():
        return ExistingHelpers({}, {}, [])
    used: set[str] = set()
    users: list[str] = []
    for path in sorted(module.parent.rglob("*.py")):
        if path != module and path not in written:
            text = _text(path)
            names = _helpers_read(text)
            users += [] if names is None else [text]
            used |= names or set()
    index = helper_index()
    known = dict.fromkeys(sorted(name for name in used if name in index))
    unknown = used - set(known)
    pieces = _pieces(_text(module), unknown)
    own = {name: pieces[name] for name in sorted(unknown) if name in pieces}
    return ExistingHelpers(known, own, users)


def _helpers_read(text: str) -> set[str] | None:
    """The members that a file reads of the helper module; None if it does not import that. Of a
    file that is no Python now, every word may be one.
    """
    if HELPER_MODULE not in text:
        return None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
    aliases = {
        alias.asname
        for node in nodes_of(tree, ast.Import, ast.ImportFrom)
        for alias in node.names
        if alias.asname and alias.name.rpartition(".")[2] == HELPER_MODULE
    }
    if not aliases:
        return None
    return {node.attr for node in nodes_of(tree, ast.Attribute) if name_of(node.value) in aliases}


def _text(path: Path) -> str:
    """Of a file that can be read; others do not use helpers."""
    try:
        return read_bytes(path).decode("utf-8", errors="replace")
    except ReadProblem:
        return ""


def with_helpers(text: str, fresh: str, written: str = "") -> str:
    """The helper module of a tree that was ported before, with what it has not of a fresh one.

    What is there stays if it was edited: if it is not what was `written` for the files of then. A
    piece that is as it was written is the fresh one's, which may have to do more.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    text = _renewed(text, tree, fresh, written)
    tree = ast.parse(text)
    there = {name for node in tree.body for name in _defines(node)}
    new = ast.parse(fresh)
    lines = fresh.split("\n")
    imports, pieces, end = [], [], 0
    for node in new.body:
        start, end = end, node.end_lineno or 0
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            missing = [alias for alias in node.names if not _bound_by(alias) & there]
            if missing:
                node.names = missing
                imports.append(ast.unparse(node))
        elif (names := _defines(node)) and not names & there:
            pieces.append("\n".join(lines[start:end]).strip("\n"))
    if not pieces:
        return text
    own = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    after = (own[-1].end_lineno or 0) if own else 0
    old = text.split("\n")
    head, rest = old[:after], "\n".join(old[after:]).rstrip("\n")
    return "\n".join([*head, *imports, rest]) + "\n\n\n" + "\n\n\n".join(pieces) + "\n"


def _renewed(text: str, tree: ast.Module, fresh: str, written: str) -> str:
    """The module with pieces of the fresh one in the place of those that nobody edited."""
    new, old = _sources(fresh), _sources(written)
    lines = text.split("\n")
    for node in reversed(tree.body):
        name = getattr(node, "name", "")
        source = _source(lines, node) if name in old else ""
        if name in new and source == old.get(name) != new[name]:
            lines[_start(node) : node.end_lineno] = new[name].split("\n")
    return "\n".join(lines)


def _sources(text: str) -> dict[str, str]:
    """Functions and classes of a module by name, as they are written."""
    lines = text.split("\n")
    return {
        node.name: _source(lines, node)
        for node in ast.parse(text).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }


def _source(lines: list[str], node: ast.stmt) -> str:
    return "\n".join(lines[_start(node) : node.end_lineno])


def _start(node: ast.stmt) -> int:
    """The index of its first line, decorators included."""
    lines: list[int] = [one.lineno for one in getattr(node, "decorator_list", ())]
    return min([node.lineno, *lines]) - 1


def _defines(node: ast.stmt) -> set[str]:
    """The names that a statement at the top level binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return _bound(node)
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _bound_by(alias: ast.alias) -> set[str]:
    return {(alias.asname or alias.name).partition(".")[0]}


def _bound(line: ast.Import | ast.ImportFrom) -> set[str]:
    return {name for alias in line.names for name in _bound_by(alias)}


def _pieces(text: str, wanted: set[str]) -> dict[str, str]:
    """Definitions of a helper module, each with the imports that it needs."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in wanted:
            words = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            needed = [ast.unparse(line) for line in imports if _bound(line) & words]
            body = ast.get_source_segment(text, node) or ""
            decorators = [f"@{ast.unparse(d)}" for d in node.decorator_list]
            found[node.name] = "\n".join([*needed, *decorators, body])
    return found
