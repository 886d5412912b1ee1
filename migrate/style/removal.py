"""What a replaced loop leaves behind: functions that only it called, variables only it read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from migrate.pipeline.context import Context
from migrate.style.epoch_loop import EpochLoop
from migrate.syntax.access import is_read

_PURE = (
    ast.Constant,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.Name,
    ast.Attribute,
    ast.UnaryOp,
    ast.USub,
    ast.Load,
    ast.Store,
)
_PURE_CALLS = ("len", "float", "int", "time.time", "time.perf_counter", "list", "dict", "tqdm")


def only_used_inside(name: str, places: Iterable[ast.AST], context: Context) -> bool:
    """Whether a variable, or an attribute of self, is named nowhere but in these places."""
    inside = {node for place in places for node in ast.walk(place)}
    attribute = name.rpartition(".")[2] if "." in name else ""
    for node in ast.walk(context.tree):
        if node in inside:
            continue
        if attribute and isinstance(node, ast.Attribute) and node.attr == attribute:
            return False
        if not attribute and isinstance(node, ast.Name) and node.id == name and is_read(node):
            return False
    return not (attribute and _is_named_elsewhere(attribute, context))


def removable_functions(
    loops: Sequence[EpochLoop], gone: Sequence[ast.AST], context: Context
) -> list[ast.AST]:
    """Functions whose bodies the loops took over, and that nothing else names."""
    candidates: set[ast.FunctionDef] = {
        function
        for loop in loops
        for function in loop.functions
        if isinstance(function, ast.FunctionDef)
    }
    while True:
        inside = {node for place in (*gone, *candidates) for node in ast.walk(place)}
        kept = {
            function
            for function in candidates
            if _is_named_elsewhere(function.name, context)
            or any(_names(node, function.name) and node not in inside for node in _nodes(context))
        }
        if not kept:
            return [*sorted(candidates, key=lambda function: function.lineno)]
        candidates -= kept


def _nodes(context: Context) -> Iterable[ast.AST]:
    return ast.walk(context.tree)


def _names(node: ast.AST, name: str) -> bool:
    return (isinstance(node, ast.Name) and node.id == name) or (
        isinstance(node, ast.Attribute) and node.attr == name
    )


def _is_named_elsewhere(name: str, context: Context) -> bool:
    """Whether another file of the program that names this one holds the word."""
    own = context.resolution.source.path
    word = re.compile(
        rf"\b{re.escape(own.stem)}\b.*\b{re.escape(name)}\b"
        if own.stem not in ("__init__", "__main__")
        else rf"\b{re.escape(name)}\b",
        re.DOTALL,
    )
    for source in context.modules.project.files:
        if source.path == own:
            continue
        try:
            if word.search(source.read()):
                return True
        except Exception:
            return True
    return False


def dead_statements(loop: EpochLoop, gone: Sequence[ast.AST], context: Context) -> list[ast.AST]:
    """`best = 0.0` in front of the loop, where only the loop read it."""
    inside = {node for place in gone for node in ast.walk(place)}
    scope = loop.root.scope
    read: dict[str, bool] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read[node.id] = read.get(node.id, True) and node in inside
    if isinstance(scope, ast.Module):
        return []
    return [
        statement
        for statement in scope.body
        if isinstance(statement, ast.Assign)
        and statement not in inside
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
        and read.get(statement.targets[0].id, False)
        and _is_pure(statement.value)
    ]


def _is_pure(value: ast.expr) -> bool:
    return all(
        isinstance(node, _PURE)
        or (isinstance(node, ast.Call) and ast.unparse(node.func) in _PURE_CALLS)
        for node in ast.walk(value)
    )
