"""What a replaced loop leaves behind: functions that only it called, variables only it read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from migrate.pipeline.context import Context
from migrate.style.epoch_loop import EpochLoop
from migrate.syntax.access import is_read
from migrate.syntax.ast_index import all_nodes, nodes_of

_PURE = (
    ast.Constant,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.Name,
    ast.Attribute,
    ast.UnaryOp,
)
_PURE_CALLS = ("len", "float", "int", "time.time", "time.perf_counter", "list", "dict", "tqdm")


def only_used_inside(name: str, places: Iterable[ast.AST], context: Context) -> bool:
    """Whether a variable, or an attribute of self, is named nowhere but in these places."""
    inside = {node for place in places for node in ast.walk(place)}
    attribute = name.rpartition(".")[2] if "." in name else ""
    if attribute:
        named = (n for n in nodes_of(context.tree, ast.Attribute) if n.attr == attribute)
        return inside.issuperset(named) and not _is_named_elsewhere(attribute, context)
    read = (n for n in nodes_of(context.tree, ast.Name) if n.id == name and is_read(n))
    return inside.issuperset(read)


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
            or not inside.issuperset(_named(function.name, context))
        }
        if not kept:
            return [*sorted(candidates, key=lambda function: function.lineno)]
        candidates -= kept


def _named(name: str, context: Context) -> list[ast.AST]:
    """The names and attributes of the file that are called so."""
    return [
        node
        for node in nodes_of(context.tree, ast.Name, ast.Attribute)
        if name in (getattr(node, "id", ""), getattr(node, "attr", ""))
    ]


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
    scope = loop.root.scope
    if isinstance(scope, ast.Module):
        return []
    inside = {node for place in gone for node in ast.walk(place)}
    reads = [node for node in ast.walk(scope) if isinstance(node, ast.Name) and is_read(node)]
    only_inside = {node.id for node in reads} - {node.id for node in reads if node not in inside}
    return [
        statement
        for statement in scope.body
        if statement not in inside
        and _bound_alone(statement) in only_inside
        and _is_pure(getattr(statement, "value", statement))
    ]


def _bound_alone(statement: ast.stmt) -> str:
    """`x` of `x = 0`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    return getattr(statement.targets[0], "id", "")


def _is_pure(value: ast.AST) -> bool:
    return all(
        isinstance(node, _PURE)
        or (isinstance(node, ast.Call) and ast.unparse(node.func) in _PURE_CALLS)
        for node in all_nodes(value)
    )
