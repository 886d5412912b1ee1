"""`b = a` of a list or dict that is changed afterwards: compiled, each name has a list of its own,
and what is added by one is not seen by the other. One name is left.
"""

from __future__ import annotations

import ast

from migrate.lower.function import CompiledFunction
from migrate.lower.kinds import bound_values, kind_of
from migrate.pipeline import becomes, declare, same


@declare(
    phase="lower",
    unit="lowering",
    needs=["compiled", "types"],
    examples=[
        becomes("a = []\nb = a\nb.append(x)\nx = a[0] * 2", "a = []\na.append(x)\nx = a[0] * 2"),
        same("a = x\nb = a\nx = a * b"),
    ],
)
def list_aliases(function: CompiledFunction) -> None:
    for statement in function.of_kind(ast.Assign):
        if len(statement.targets) != 1 or not isinstance(statement.targets[0], ast.Name):
            continue
        target, value = statement.targets[0], statement.value
        if not isinstance(value, ast.Name) or not kind_of(value, function):
            continue
        if not _bound_once(target.id, function) or not _bound_once(value.id, function):
            continue
        for node in function.of_kind(ast.Name):
            if node.id == target.id and node is not target:
                function.replace(node, value.id)
        function.remove_statement(statement)
        return


def _bound_once(name: str, function: CompiledFunction) -> bool:
    """One assignment; `b += [x]` changes the same list."""
    return len(list(bound_values(name, function))) == 1
