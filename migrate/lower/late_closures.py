"""An inner function that reads a variable which is bound again before the call: the compiler takes
the value at the definition, Python the one at the call. The variable becomes a parameter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.lower.function import FUNCTIONS, CompiledFunction
from migrate.pipeline import becomes, declare, same
from migrate.syntax.access import attribute_of, is_store
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.edits import Edit

Inner = ast.FunctionDef | ast.Lambda
_STORES = (ast.Assign, ast.AnnAssign, ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
_KEEPERS = frozenset({"append", "insert", "extend", "update", "setdefault", "add"})


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled"],
    examples=[
        becomes(
            "scale = 1\ndef f(t):\n    return t * scale\nscale = 3\nx = f(x)",
            "scale = 1\n\ndef f(t, scale):\n    return t * scale\nscale = 3\nx = f(x, scale)",
        ),
        becomes(
            "f = lambda t: t + y\ny = y * 2\nx = f(x)",
            "f = lambda t, y: t + y\ny = y * 2\nx = f(x, y)",
        ),
        same("def f(t):\n    return t + y\nx = f(x)"),
    ],
)
def late_closures(function: CompiledFunction) -> None:
    for inner, late in late_captures(function):
        calls = _only_called(inner, function)
        parameters = inner.args
        if calls is None or parameters.defaults or parameters.vararg or parameters.kwonlyargs:
            continue
        if parameters.kwarg or parameters.posonlyargs:
            continue
        names = ", ".join(late)
        if not _add_parameters(inner, names, function):
            continue
        for call in calls:
            _add_arguments(call, late, len(parameters.args), function)
        return  # one at a time: calls may be nested


def late_captures(function: CompiledFunction) -> Iterator[tuple[Inner, list[str]]]:
    """Inner functions that outlive their statement, with the variables that are bound again."""
    inners: Iterator[Inner] = function.of_kind(ast.FunctionDef, ast.Lambda)
    for inner in inners:
        if function.scope_of(inner) is not function.node or not _is_stored(inner, function):
            continue
        late = [name for name in _captured(inner) if _bound_again(name, inner, function)]
        if late:
            yield inner, late


def _is_stored(inner: Inner, function: CompiledFunction) -> bool:
    if isinstance(inner, ast.FunctionDef):
        return True
    parent = function.parents[inner]
    if isinstance(parent, ast.Call):
        return attribute_of(parent.func) in _KEEPERS
    return isinstance(parent, _STORES)


def _captured(inner: Inner) -> list[str]:
    """Names that it reads and does not bind."""
    own = {node.arg for node in all_nodes(inner) if isinstance(node, ast.arg)}
    names: dict[str, None] = {}
    for node in all_nodes(inner):
        if isinstance(node, ast.Name):
            if is_store(node):
                own.add(node.id)
            else:
                names[node.id] = None
    return [name for name in names if name not in own]


def _bound_again(name: str, inner: Inner, function: CompiledFunction) -> bool:
    """Whether the outer function binds the variable behind the definition, or in a loop around."""
    inside = set(all_nodes(inner))
    loops = []
    node: ast.AST = inner
    while node is not function.node:
        node = function.parents[node]
        if isinstance(node, (ast.For, ast.While, ast.ListComp, ast.DictComp)):
            loops.append(node)
    end = (inner.end_lineno or 0, inner.end_col_offset or 0)
    for part in all_nodes(function.node):
        if not isinstance(part, ast.Name) or part.id != name or part in inside:
            continue
        if is_store(part) and function.scope_of(part) is function.node:
            behind = (part.lineno, part.col_offset) > end
            if behind or any(part in all_nodes(loop) for loop in loops):
                return True
    return False


def _name_of(inner: Inner, function: CompiledFunction) -> str:
    """The variable that holds an inner function; empty for a lambda that goes elsewhere."""
    if isinstance(inner, ast.FunctionDef):
        return inner.name
    parent = function.parents[inner]
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return ""
    target = parent.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


def _is_plain_call(call: ast.Call, name: ast.Name, function: CompiledFunction) -> bool:
    """`name(...)` in the function itself, its arguments written out."""
    if call.func is not name or function.scope_of(call) is not function.node:
        return False
    return not any(isinstance(argument, ast.Starred) for argument in call.args)


def _only_called(inner: Inner, function: CompiledFunction) -> list[ast.Call] | None:
    """The calls of the inner function, if nothing else is done with it."""
    name = _name_of(inner, function)
    if not name:
        return None
    calls: list[ast.Call] = []
    bound = 0
    for node in all_nodes(function.node):
        if isinstance(node, FUNCTIONS) and node is not function.node and node.name == name:
            bound += 1
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        if is_store(node):
            bound += 1
            continue
        call = function.parents[node]
        if not isinstance(call, ast.Call) or not _is_plain_call(call, node, function):
            return None
        calls.append(call)
    return calls if bound == 1 else None


def _add_parameters(inner: Inner, names: str, function: CompiledFunction) -> bool:
    source = function.source
    if inner.args.args:
        last = inner.args.args[-1]
        end = source.span(last)[1]
        function.edits.append(Edit(end, end, (f", {names}",)))
        return True
    start = source.span(inner)[0]
    if isinstance(inner, ast.Lambda):
        end = start + len("lambda")
        function.edits.append(Edit(end, end, (f" {names}",)))
        return True
    end = source.text.index("(", source.text.index(inner.name, start)) + 1
    function.edits.append(Edit(end, end, (names,)))
    return True


def _add_arguments(
    call: ast.Call, names: list[str], positions: int, function: CompiledFunction
) -> None:
    plain = not call.keywords and len(call.args) == positions
    text = ", ".join(names if plain else [f"{name}={name}" for name in names])
    arguments = [*call.args, *call.keywords]
    source = function.source
    if arguments:
        end = max(source.span(argument)[1] for argument in arguments)
        # Behind a generator expression there is its own parenthesis.
        function.edits.append(Edit(end, end, (f", {text}",)))
    else:
        end = source.span(call)[1] - 1
        function.edits.append(Edit(end, end, (text,)))
