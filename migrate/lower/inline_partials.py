"""`f = partial(kernel, matrix=m)`, called twice: written out, as calls of the function itself.

MindSpore 2.10 compiles all calls of one partial with the keywords of the last: `f(q, flag=True)` in
front of `f(k, flag=False)` computes with False, and nothing says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.lower.function import CompiledFunction
from migrate.pipeline import becomes, declare, same
from migrate.resolve.values import External
from migrate.syntax.access import is_store, name_of
from migrate.syntax.ast_index import all_nodes
from migrate.syntax.edits import Piece


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled", "types"],
    examples=[
        becomes(
            "f = functools.partial(self.kernel, matrix=y)\nx = f(x, on=True) + f(x, on=False)",
            "x = self.kernel(x, on=True, matrix=y) + self.kernel(x, on=False, matrix=y)",
        ),
        same("g = functools.partial(self.kernel, matrix=y)\nx = g(x)"),
    ],
)
def inline_partials(function: CompiledFunction) -> None:
    """Only where all that the partial holds still has the same value at its calls."""
    for statement, name, partial in partials(function):
        calls = _only_called(name, statement, function)
        if calls is None or not _is_lasting(partial, statement, function):
            continue
        for call in calls:
            function.replace(call, *_written(call, partial))
        function.remove_statement(statement)
        return


def partials(function: CompiledFunction) -> Iterator[tuple[ast.Assign, str, ast.Call]]:
    """`f = partial(...)`, where f is called more than once with keywords."""
    for statement in function.of_kind(ast.Assign):
        value, target = statement.value, statement.targets[0]
        if not isinstance(value, ast.Call) or not isinstance(target, ast.Name):
            continue
        called = function.value_of(value.func)
        if not isinstance(called, External) or called.name != "functools.partial":
            continue
        keyed = [
            call
            for call in function.of_kind(ast.Call)
            if name_of(call.func) == target.id and call.keywords
        ]
        if len(keyed) > 1 and value.args and len(statement.targets) == 1:
            yield statement, target.id, value


def _only_called(
    name: str, statement: ast.Assign, function: CompiledFunction
) -> list[ast.Call] | None:
    """The calls, if all of them stand behind the assignment in its block, and nothing else reads
    or binds the name.
    """
    block = function.block_of(statement)
    behind = block[block.index(statement) + 1 :]
    inside = {node for later in behind for node in all_nodes(later)}
    calls = []
    for node in function.of_kind(ast.Name):
        if node.id != name or node is statement.targets[0]:
            continue
        call = function.parents[node]
        if node not in inside or not isinstance(call, ast.Call) or call.func is not node:
            return None
        if any(isinstance(part, ast.Starred) for part in call.args):
            return None
        if any(keyword.arg is None for keyword in call.keywords):
            return None
        calls.append(call)
    return calls


def _is_lasting(partial: ast.Call, statement: ast.Assign, function: CompiledFunction) -> bool:
    """Made of names, attributes and constants, none of which is bound again."""
    held = [*partial.args, *(keyword.value for keyword in partial.keywords)]
    if any(keyword.arg is None for keyword in partial.keywords):
        return False
    names: set[str] = set()
    for value in held:
        while isinstance(value, ast.Attribute):
            value = value.value
        if isinstance(value, ast.Name):
            names.add(value.id)
        elif not isinstance(value, ast.Constant):
            return False
    begin = function.source.span(statement)[1]
    return not any(
        is_store(node)
        and node.id in names
        and (function.source.span(node)[0] > begin or _in_loop(statement, function))
        for node in function.of_kind(ast.Name)
    )


def _in_loop(node: ast.AST, function: CompiledFunction) -> bool:
    while node is not function.node:
        node = function.parents[node]
        if isinstance(node, (ast.For, ast.While)):
            return True
    return False


def _written(call: ast.Call, partial: ast.Call) -> list[Piece]:
    """The function itself, with the arguments of both; the call's own keywords count."""
    own = {keyword.arg for keyword in call.keywords}
    arguments: list[list[Piece]] = [[value] for value in (*partial.args[1:], *call.args)]
    arguments += [[f"{k.arg}=", k.value] for k in call.keywords]
    arguments += [[f"{k.arg}=", k.value] for k in partial.keywords if k.arg not in own]
    pieces: list[Piece] = [partial.args[0], "("]
    for number, argument in enumerate(arguments):
        pieces += [", " if number else "", *argument]
    return [*pieces, ")"]
