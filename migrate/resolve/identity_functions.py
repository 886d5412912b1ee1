"""Functions that give back what they were given: `def init_net(net): ...; return net`.

A function's body is looked at once, with what its first caller passes. What such a function
returns is each caller's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.resolve.values import Instance, ProjectFunction, Value, is_tensor, options_of
from migrate.syntax.access import method_of, name_of
from migrate.syntax.ast_index import all_nodes

# `net = net.to(device)`, `net = DataParallel(net)`: the same network, or one that acts as it.
_SAME = frozenset({"to", "cuda", "cpu", "float", "half", "double", "train", "eval", "apply"})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_WRAPPERS = frozenset({"DataParallel", "DistributedDataParallel", "convert_sync_batchnorm"})


def passed_parameter(function: ast.AST) -> str:
    """The parameter that every return gives back; empty if there is none."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ""
    arguments = function.args
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    name = ""
    for node in _returns(function.body):
        given = _name(node.value)
        if given not in names or (name and given != name):
            return ""  # most functions leave here, at their first return
        name = given
    if not name or _yields(function.body) or not _stays(function, name):
        return ""
    return name


def _returns(body: list[ast.stmt]) -> Iterator[ast.Return]:
    """The return statements of a function's own body; expressions are not walked."""
    pending = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, _SCOPES):
            for block in ("body", "orelse", "finalbody"):
                pending += getattr(node, block, ())
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                pending += part.body


def _yields(body: list[ast.stmt]) -> bool:
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*_SCOPES, ast.Lambda)):
            pending += ast.iter_child_nodes(node)
    return False


def called_otherwise(seen: dict[str, Value], hints: dict[str, Value]) -> set[str]:
    """Parameters that are another network or function here than the body was looked at with: what
    `def run(net, x): return net(x)` gives is not known then.
    """
    return {
        name
        for name, value in hints.items()
        if name in seen and _called(value) != _called(seen[name]) and _called(value)
    }


def called_names(function: ast.AST) -> frozenset[str]:
    """`net` of `net(x)` and of `net.encoder(x)`"""
    return frozenset(_root(node.func) for node in all_nodes(function) if isinstance(node, ast.Call))


def gives_tensors_too(seen: Value, joined: Value) -> bool:
    """A parameter was looked at as something else, and is a tensor for another caller."""
    return not any(map(is_tensor, options_of(seen))) and any(map(is_tensor, options_of(joined)))


def _called(value: Value) -> set[Value | str]:
    """The classes and functions of the program that a value may be, to be told apart."""
    options = options_of(value)
    instances = [one for one in options if isinstance(one, Instance) and not is_tensor(one)]
    functions = [one for one in options if isinstance(one, ProjectFunction)]
    return {one.cls for one in instances} | set(functions)


def _root(function: ast.expr) -> str:
    while isinstance(function, ast.Attribute):
        function = function.value
    return function.id if isinstance(function, ast.Name) else ""


def _name(value: ast.expr | None) -> str:
    """`net` of `return net` and of `return net.to(device)`"""
    if _is_same(value):
        assert isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
        value = value.func.value
    return value.id if isinstance(value, ast.Name) else ""


def _is_same(value: ast.expr | None) -> bool:
    return method_of(value) in _SAME


def _stays(function: ast.AST, name: str) -> bool:
    """Nothing but the same network is put into the variable."""
    stored = same = 0
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            stored += node.id == name and isinstance(node.ctx, ast.Store)
        elif isinstance(node, ast.Assign):
            same += _names(node.targets) == [name] and _is_kept(node.value, name)
    return stored == same


def _names(targets: list[ast.expr]) -> list[str]:
    return [target.id if isinstance(target, ast.Name) else "" for target in targets]


def _is_kept(value: ast.expr, name: str) -> bool:
    """`net.to(device)`, `DataParallel(net)`"""
    if isinstance(value, ast.Call) and _last(value.func) in _WRAPPERS:
        first = value.args[0] if value.args else None
        return name_of(first) == name
    return _is_same(value) and _name(value) == name


def _last(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
