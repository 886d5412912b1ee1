"""`found.insert(0, y)`, `sizes.sort()`: MindSpore compiles them without the gradients of what the
list holds, or passes over them, and nothing says so. Sums and slices of lists keep them.
"""

from __future__ import annotations

import ast

from migrate.lower.function import CompiledFunction
from migrate.lower.kinds import kind_of
from migrate.lower.nonescaping_containers import is_own
from migrate.pipeline import becomes, declare, same
from migrate.syntax.edits import Piece

METHODS = frozenset({"copy", "extend", "insert", "remove", "reverse", "sort"})
_CHEAP = (ast.Name, ast.Constant)
_WHOLE = (ast.List, ast.ListComp)


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled", "types"],
    after={
        "list_pops": "an item that is taken has a name before the list is made anew",
        "list_items": "a list that is made anew holds items of other names",
    },
    examples=[
        becomes("found = [x]\nfound.insert(0, y)", "found = [x]\nfound = [y] + found"),
        becomes("found = [x]\nfound.extend((x, y))", "found = [x]\nfound = found + list((x, y))"),
        becomes(
            "sizes = [2, 1]\nsizes.sort(reverse=True)",
            "sizes = [2, 1]\nsizes = sorted(sizes, reverse=True)",
        ),
        becomes(
            "found = [x]\nother = found.copy()\nx = other[0]",
            "found = [x]\nother = list(found)\nx = other[0]",
        ),
        same("parts.insert(0, x)"),
    ],
)
def list_methods(function: CompiledFunction) -> None:
    """A new list in the old one's place, where the function has it to itself."""
    for call in function.of_kind(ast.Call):
        method = call.func
        if not isinstance(method, ast.Attribute) or method.attr not in METHODS:
            continue
        held, statement = method.value, function.parents[call]
        if method.attr == "copy":
            if not call.args and kind_of(held, function) == "list":
                function.replace(call, "list(", held, ")")
            continue
        if not isinstance(statement, ast.Expr) or not is_own(held, "list", function):
            continue
        assert isinstance(held, ast.Name)
        new = _changed(held.id, method.attr, call)
        if new:
            function.replace_statement(statement, [f"{held.id} = ", *new])


def _inserted(name: str, at: ast.expr, item: ast.expr) -> list[Piece]:
    if isinstance(at, ast.Constant) and at.value == 0:
        return ["[", item, f"] + {name}"]
    if not isinstance(at, _CHEAP):
        return []
    return [f"{name}[:", at, "] + [", item, f"] + {name}[", at, ":]"]


def _extended(name: str, more: ast.expr) -> list[Piece]:
    if isinstance(more, ast.GeneratorExp):  # its parentheses are those of the call
        return [f"{name} + list", more]
    return [f"{name} + ", more] if isinstance(more, _WHOLE) else [f"{name} + list(", more, ")"]


def _changed(name: str, method: str, call: ast.Call) -> list[Piece]:
    """The list after its change; nothing for arguments that a list does not take."""
    if method == "sort" and not call.args:
        given: list[Piece] = []
        for keyword in call.keywords:
            given += [f", {keyword.arg}=", keyword.value]
        return [f"sorted({name}", *given, ")"]
    if call.keywords or any(isinstance(part, ast.Starred) for part in call.args):
        return []
    if method == "insert" and len(call.args) == 2:
        return _inserted(name, *call.args)
    if method == "extend" and len(call.args) == 1:
        return _extended(name, call.args[0])
    if method == "reverse" and not call.args:
        return [f"{name}[::-1]"]
    if method == "remove" and len(call.args) == 1 and isinstance(call.args[0], _CHEAP):
        place: list[Piece] = [f"{name}.index(", call.args[0], ")"]
        return [f"{name}[:", *place, f"] + {name}[", *place, " + 1:]"]
    return []
