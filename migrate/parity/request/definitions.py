"""The definitions of a script without what it does: classes of a file that trains when imported."""

from __future__ import annotations

import ast
from types import CodeType

from migrate.syntax.access import name_of

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
# Calls that only make a value: constants of a script may be made with them.
_MAKES_VALUES = frozenset(
    [
        "bool",
        "bytes",
        "complex",
        "dict",
        "float",
        "frozenset",
        "int",
        "len",
        "list",
        "max",
        "min",
        "range",
        "round",
        "set",
        "sorted",
        "str",
        "sum",
        "tuple",
        "zip",
        "NamedTuple",
        "TypeVar",
        "namedtuple",
        "partial",
        "device",
        "dtype",
        "getenv",
        "getLogger",
        "Path",
    ]
)
_MODULES = frozenset(
    ["collections", "dataclasses", "enum", "functools", "logging", "math", "os", "re", "typing"]
)


def compile_definitions(source: bytes, name: str) -> CodeType:
    """The file's imports, classes, functions and plain constants, at their own lines."""
    tree = ast.parse(source)
    tree.body = _kept(tree.body)
    return compile(tree, name, "exec", dont_inherit=True)


def _kept(body: list[ast.stmt]) -> list[ast.stmt]:
    return [kept for node in body if (kept := _keep(node)) is not None]


def _keep(node: ast.stmt) -> ast.stmt | None:
    if isinstance(node, _DEFINITIONS) or _is_docstring(node):
        return node
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        plain = node.value is None or _is_plain(node.value)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        bare = all(isinstance(target, (ast.Name, ast.Tuple)) for target in targets)
        return node if plain and bare else None
    if isinstance(node, ast.If):
        if not _is_plain(node.test) or _asks_for_main(node.test):
            return None
        node.body, node.orelse = _kept(node.body), _kept(node.orelse)
        node.body = node.body or [ast.copy_location(ast.Pass(), node)]
        return node
    if isinstance(node, ast.Try):
        node.body, node.orelse = _kept(node.body), _kept(node.orelse)
        node.finalbody = _kept(node.finalbody)
        for handler in node.handlers:
            handler.body = _kept(handler.body) or [ast.copy_location(ast.Pass(), handler)]
        node.body = node.body or [ast.copy_location(ast.Pass(), node)]
        return node
    return None


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _asks_for_main(test: ast.expr) -> bool:
    return any(name_of(node) == "__name__" for node in ast.walk(test))


def _is_plain(value: ast.expr) -> bool:
    """Whether an expression only makes a value: no call but those that are known to."""
    for node in ast.walk(value):
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            return False
        if isinstance(node, ast.Call):
            words = ast.unparse(node.func).split(".")
            if words[0] not in _MODULES and words[-1] not in _MAKES_VALUES:
                return False
    return True
