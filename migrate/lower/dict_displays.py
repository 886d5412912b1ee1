"""`dict(a=y)`, `parts.copy()`, `parts.pop("a")`: MindSpore compiles them without the gradients of
what they hold, and nothing says so. Displays and comprehensions keep them.
"""

from __future__ import annotations

import ast

from migrate.lower.function import CompiledFunction
from migrate.lower.kinds import kind_of, pair_names
from migrate.lower.nonescaping_containers import is_own
from migrate.pipeline import becomes, declare, same
from migrate.resolve.values import External
from migrate.syntax.edits import Piece

_DICTS = ("builtins.dict", "collections.OrderedDict")
_PAIRS = ("builtins.zip", "builtins.enumerate")


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled", "types"],
    examples=[
        becomes("out = dict(a=x)", "out = {'a': x}"),
        becomes('out = dict([("a", x), ("b", y)])', "out = {'a': x, 'b': y}"),
        becomes(
            'out = {"a": x}\nx = out.pop("a")',
            "out = {'a': x}\nx = out['a']\n"
            "out = {key: value for key, value in out.items() if key != 'a'}",
        ),
        same("out = dict(data)"),
    ],
)
def dict_displays(function: CompiledFunction) -> None:
    for call in function.of_kind(ast.Call):
        method = call.func
        if isinstance(method, ast.Attribute) and method.attr == "pop":
            if _pop(call, method.value, function):
                return
        elif isinstance(method, ast.Attribute) and method.attr == "copy":
            if not call.args and kind_of(method.value, function) == "dict":
                function.replace(call, *_of_pairs([method.value, ".items()"], function))
        elif call.args or call.keywords:
            called = function.value_of(method)
            if isinstance(called, External) and called.name in _DICTS:
                display = _display(call, function)
                if display:
                    function.replace(call, *display)


def _pop(call: ast.Call, held: ast.expr, function: CompiledFunction) -> bool:
    """`scale = options.pop("scale", 1)`: read, then left out."""
    statement = function.parents[call]
    keyed = call.args and isinstance(call.args[0], ast.Constant) and len(call.args) < 3
    if not keyed or call.keywords or not isinstance(statement, (ast.Assign, ast.Expr)):
        return False
    if not is_own(held, "dict", function):
        return False
    assert isinstance(held, ast.Name)
    name, key = held.id, call.args[0]
    each, value = pair_names(function)
    rest: list[Piece] = [
        f"{name} = {{{each}: {value} for {each}, {value} in {name}.items() if {each} != ",
        key,
        "}",
    ]
    if isinstance(statement, ast.Expr):
        function.replace_statement(statement, rest)
        return True
    if len(call.args) == 1:
        function.replace(call, f"{name}[", key, "]")
    else:
        function.replace(call, f"{name}.get(", key, ", ", call.args[1], ")")
    function.replace_statement(statement, [statement], rest)
    return True


def _display(call: ast.Call, function: CompiledFunction) -> list[Piece]:
    """The same dict written out; nothing where its arguments do not tell the items."""
    if any(keyword.arg is None for keyword in call.keywords):
        return []
    if not call.args:
        return _written([(f'"{k.arg}"', k.value) for k in call.keywords])
    if call.keywords or len(call.args) > 1 or isinstance(call.args[0], ast.Starred):
        return []
    return _display_of(call.args[0], function)


def _display_of(held: ast.expr, function: CompiledFunction) -> list[Piece]:
    """`dict(held)`"""
    if kind_of(held, function) == "dict":
        return _of_pairs([held, ".items()"], function)
    if isinstance(held, (ast.List, ast.Tuple)):
        pairs = [part.elts for part in held.elts if isinstance(part, (ast.List, ast.Tuple))]
        if len(pairs) == len(held.elts) and all(len(pair) == 2 for pair in pairs):
            return _written([(pair[0], pair[1]) for pair in pairs])
        return []
    if isinstance(held, ast.GeneratorExp):
        start, end = function.source.span(held)
        # In a call of one argument its parentheses are those of the call.
        return _of_pairs([f"[{function.source.text[start + 1 : end - 1]}]"], function)
    called = function.value_of(held.func) if isinstance(held, ast.Call) else None
    if isinstance(held, ast.ListComp) or (isinstance(called, External) and called.name in _PAIRS):
        return _of_pairs([held], function)
    return []


def _written(items: list[tuple[Piece, ast.expr]]) -> list[Piece]:
    pieces: list[Piece] = ["{"]
    for number, (key, value) in enumerate(items):
        pieces += [", " if number else "", key, ": ", value]
    return [*pieces, "}"]


def _of_pairs(pairs: list[Piece], function: CompiledFunction) -> list[Piece]:
    key, value = pair_names(function)
    return [f"{{{key}: {value} for {key}, {value} in ", *pairs, "}"]
