"""`add_shortcut(x, y)`, where the function changes its x in place: the port gives it a new x, which
only those see who take the result.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from migrate.port.cells.buffers import KEEPS_VALUE
from migrate.port.context import Context
from migrate.port.syntax.every_node import every_node
from migrate.resolve.values import Method, ProjectFunction, is_tensor


class Change(NamedTuple):
    """An argument that a call changes, and whether the call gives it back."""

    place: ast.expr
    returned: bool
    definition: ast.FunctionDef


def changed_argument(
    call: ast.Call, context: Context, known: dict[int, list[str]]
) -> Change | None:
    """The first argument that a function of the program changes in place; `known` are the changed
    parameters of functions that were looked at already.
    """
    function = context.type(call.func)
    bound = isinstance(function, Method)
    if isinstance(function, Method) and isinstance(function.function, ProjectFunction):
        function = function.function
    if not isinstance(function, ProjectFunction) or not isinstance(function.node, ast.FunctionDef):
        return None
    definition = function.node
    if id(definition) not in known:
        known[id(definition)] = _changed_parameters(definition, context)
    changed = known[id(definition)]
    if (
        not changed
        or any(isinstance(a, ast.Starred) for a in call.args)
        or any(not k.arg for k in call.keywords)
    ):
        return None
    names = [a.arg for a in (*definition.args.posonlyargs, *definition.args.args)]
    static = any(ast.unparse(d) == "staticmethod" for d in definition.decorator_list)
    if bound and not static:
        names = names[1:]
    given = dict(zip(names, call.args, strict=False))
    given |= {k.arg: k.value for k in call.keywords if k.arg}
    for name, place in given.items():
        if name in changed:
            return Change(place, gives_back(definition, name), definition)
    return None


def _changed_parameters(definition: ast.FunctionDef, context: Context) -> list[str]:
    nodes = list(every_node(definition))
    names = [a.arg for a in (*definition.args.posonlyargs, *definition.args.args)]
    stored = _stored(nodes)
    return [
        name
        for name in names
        if name not in stored and any(_changes(node, name, context) for node in nodes)
    ]


def _changes(node: ast.AST, name: str, context: Context) -> bool:
    """`x.add_(y)`, `x += y`, `x[:, 1:] = y`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        method = node.func.attr
        return (
            method.endswith("_")
            and not method.startswith("_")
            and method not in KEEPS_VALUE
            and _is(node.func.value, name)
            and is_tensor(context.type(node.func.value))
        )
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if not isinstance(node, ast.Assign | ast.AugAssign):
        return False
    for target in targets:
        if isinstance(node, ast.AugAssign) and _is(target, name):
            return is_tensor(context.type(target))
        if isinstance(target, ast.Subscript) and _is(target.value, name):
            return is_tensor(context.type(target.value))
    return False


def gives_back(definition: ast.FunctionDef, name: str) -> bool:
    """Whether the function returns what it has made of this parameter, on all ways out."""
    returns = [node for node in every_node(definition) if isinstance(node, ast.Return)]
    return isinstance(definition.body[-1], ast.Return) and all(
        _is(node.value, name) for node in returns
    )


def is_given_back(name: str, function: ast.AST | None) -> bool:
    """Whether it is such a parameter of the function."""
    return (
        isinstance(function, ast.FunctionDef)
        and name in [argument.arg for argument in function.args.args]
        and gives_back(function, name)
    )


def _stored(nodes: list[ast.AST]) -> set[str]:
    """Names that are given other values than their changed own."""
    changed = {id(node.target) for node in nodes if isinstance(node, ast.AugAssign)}
    return {
        node.id
        for node in nodes
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and id(node) not in changed
    }


def _is(node: ast.AST | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
