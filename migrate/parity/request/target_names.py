"""Whether a file has the callable that a target names: by reading it, before any worker starts."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from pathlib import Path

from migrate.errors import RequestError
from migrate.syntax.access import is_store
from migrate.syntax.ast_index import nodes_of

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def check_name(path: Path, name: str) -> None:
    """Refuse a name that the file cannot have; a file that makes its names at run time may."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return  # the worker says it better
    if _makes_names(tree):
        return
    first = name.partition(".")[0]
    bound = list(dict.fromkeys(bound_names(tree)))
    if first in bound:
        return
    own = [node.name for node in tree.body if isinstance(node, _SCOPES)] or bound
    offered = [one for one in own if not one.startswith("_")]
    close = difflib.get_close_matches(first, bound, 1, 0.6)
    step = f"did you mean {close[0]}? " if close else ""
    raise RequestError(
        f"there is no {first!r} here",
        where=str(path),
        next_step=f"{step}it offers: {', '.join(offered[:20]) or 'nothing'}",
    )


def _makes_names(tree: ast.Module) -> bool:
    """`from x import *`, `globals()[...] = `, a module's `__getattr__`."""
    imported = (alias for node in nodes_of(tree, ast.ImportFrom) for alias in node.names)
    if nodes_of(tree, ast.Global) or any(alias.name == "*" for alias in imported):
        return True
    if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body):
        return True
    makers = ("globals", "exec", "setattr", "locals")
    return any(name.id in makers for name in nodes_of(tree, ast.Name))


def bound_names(tree: ast.Module) -> Iterator[str]:
    """Names that the module's own statements bind, in whatever block they stand."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop(0)
        if isinstance(node, _SCOPES):
            yield node.name
            continue
        if isinstance(node, ast.Import):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Name) and is_store(node):
            yield node.id
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name
        pending += ast.iter_child_nodes(node)
