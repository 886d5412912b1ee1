"""`del rest` frees memory, and Graph mode knows no `del`; items of a list or dict are left out of a
new one.
"""

from __future__ import annotations

import ast

from migrate.lower.function import CompiledFunction, Line
from migrate.lower.kinds import kind_of, only_here, pair_names
from migrate.pipeline import becomes, declare, same
from migrate.syntax.edits import Piece


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled", "types"],
    examples=[
        becomes("rest = x + y\nx = rest * 2\ndel rest", "rest = x + y\nx = rest * 2"),
        becomes(
            'parts = {"a": x}\ndel parts["a"]',
            'parts = {"a": x}\n'
            "parts = {key: value for key, value in parts.items() if key != 'a'}",
        ),
        becomes("parts = [x, y]\ndel parts[0]", "parts = [x, y]\nparts = parts[1:]"),
        same("del x[0]"),
    ],
)
def drop_del(function: CompiledFunction) -> None:
    for statement in function.of_kind(ast.Delete):
        lines = [_line(target, function) for target in statement.targets]
        if any(line is None for line in lines):
            continue
        left: list[Line] = [line for line in lines if line]
        if left:
            function.replace_statement(statement, *left)
        else:
            function.remove_statement(statement)


def _line(target: ast.expr, function: CompiledFunction) -> Line | None:
    """What a target becomes: nothing, a statement, or None where it must stay."""
    if isinstance(target, ast.Name):
        return ""
    if isinstance(target, ast.Tuple):
        names = all(isinstance(part, ast.Name) for part in target.elts)
        return "" if names else None
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return None
    name, kind = target.value.id, kind_of(target.value, function)
    if not only_here(name, function):
        return None
    if kind == "dict":
        key, value = pair_names(function)
        pairs = f"{{{key}: {value} for {key}, {value} in {name}.items() if {key} != "
        return [f"{name} = ", pairs, target.slice, "}"]
    if kind != "list":
        return None
    rest = _rest(name, target.slice)
    return [f"{name} = ", *rest] if rest else None


def _rest(name: str, index: ast.expr) -> list[Piece]:
    """The list without an item, or without its first or last ones."""
    if isinstance(index, ast.Slice):
        if index.step is not None or (index.lower is not None and index.upper is not None):
            return []
        if index.lower is None:
            return [f"{name}[", index.upper, ":]"] if index.upper is not None else ["[]"]
        return [f"{name}[:", index.lower, "]"]
    text = ast.unparse(index)
    if text in ("0", "-1"):
        return [f"{name}[1:]" if text == "0" else f"{name}[:-1]"]
    plain = isinstance(index, (ast.Name, ast.Constant))
    return [f"{name}[:{text}] + {name}[{text} + 1:]"] if plain else []
