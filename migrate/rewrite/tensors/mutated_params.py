"""Functions of the program that change a tensor they are given and also return something.

torch's caller sees the change whatever it does with the result: `scale(x, 2)` as a statement, or
`y = scale(x, 2)` with x read later. Ported, such a function computes a new tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrate.pipeline.context import Context
from migrate.resolve.values import (
    Instance,
    Method,
    ProjectClass,
    ProjectFunction,
    Value,
    is_tensor,
    options_of,
)
from migrate.rewrite.tensors.aliases import is_callers

Function = ast.FunctionDef | ast.AsyncFunctionDef


def changed_arguments(
    call: ast.Call,
    context: Context,
    is_compiled: Callable[[ast.AST | None], bool],
    known: dict[int, list[str]],
) -> list[tuple[ast.expr, bool]]:
    """The tensors that a call changes in place, and whether that is what it returns; `known` are
    the changed parameters of functions that were looked at already.
    """
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return []
    found = []
    for option in options_of(context.type(call.func)):
        function, bound = _function(option)
        if function is None:
            continue
        if id(function) not in known:
            known[id(function)] = _changed(function, context, is_compiled(function))
        for name in known[id(function)]:
            given = _given(call, function, name, bound)
            if given is not None and is_tensor(context.type(given)):
                found.append((given, _returns(function, name)))
    return found


def rebinds(call: ast.Call, name: str, around: ast.AST | None) -> bool:
    """`x, n = normalized(x, n)`: from there on the name is that of the result."""
    return around is not None and any(
        isinstance(node, ast.Assign)
        and any(part is call for part in ast.walk(node.value))
        and any(getattr(p, "id", "") == name for t in node.targets for p in ast.walk(t))
        for node in ast.walk(around)
    )


def _function(option: Value) -> tuple[Function | None, bool]:
    """The function behind a value, and whether its first parameter is filled by the object."""
    if isinstance(option, Method) and isinstance(option.function, ProjectFunction):
        node = option.function.node
        static = any("static" in ast.unparse(d) for d in getattr(node, "decorator_list", ()))
        return (node, not static) if isinstance(node, Function) else (None, False)
    if isinstance(option, Instance) and isinstance(option.cls, ProjectClass):
        for name in ("forward", "__call__"):
            method = option.cls.body.get(name)
            if isinstance(method, ProjectFunction) and isinstance(method.node, Function):
                return method.node, True
    if isinstance(option, ProjectFunction) and isinstance(option.node, Function):
        return option.node, False
    return None, False


def _changed(function: Function, context: Context, compiled: bool) -> list[str]:
    """Parameters that are changed in place, and not in a way that the caller sees anyway; of what
    compiled code does, it sees results only.
    """
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    found = []
    for place in _places(function, context):
        if place.id in names and place.id not in found and not _is_bound_before(place, function):
            found.append(place.id)
            if not compiled and is_callers(place, function, _stops_gradient(function)):
                found.pop()  # written so that the tensor itself changes
    return found


def _places(function: Function, context: Context) -> Iterator[ast.Name]:
    """`t` of `t.mul_(2)`, `t.data.add_(1).div_(2)`, `F.relu_(t)`, `t += 1`"""
    for node in ast.walk(function):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if not _is_in_place(node.func.attr, context):
            continue
        owner = node.func.value
        while isinstance(owner, ast.Attribute) and owner.attr == "data":
            owner = owner.value
        if isinstance(owner, ast.Name) and owner.id not in ("torch", "F", "init"):
            yield owner
        elif ast.unparse(owner) in ("torch", "F", "nn.functional") and node.args:
            yield from (part for part in node.args[:1] if isinstance(part, ast.Name))


def _is_in_place(name: str, context: Context) -> bool:
    return (
        name.endswith("_")
        and not name.endswith("__")
        and name not in ("requires_grad_", "retain_grad_", "share_memory_")
        and any(
            context.table.get(f"{prefix}.{name}") is not None
            for prefix in ("torch.Tensor", "torch", "torch.nn.functional")
        )
    )


def _is_bound_before(place: ast.Name, function: Function) -> bool:
    """`t = t.clone()` in front: what is changed is the function's own."""
    changed = {id(n.target) for n in ast.walk(function) if isinstance(n, ast.AugAssign)}
    return any(
        isinstance(node, ast.Name)
        and node.id == place.id
        and isinstance(node.ctx, ast.Store)
        and id(node) not in changed
        and node.lineno < place.lineno
        for node in ast.walk(function)
    )


def _stops_gradient(function: Function) -> bool:
    """The function may be another file's: its text must do."""
    decorators = [ast.unparse(d) for d in function.decorator_list]
    blocks = [
        ast.unparse(item.context_expr)
        for node in ast.walk(function)
        if isinstance(node, ast.With)
        for item in node.items
    ]
    return any("no_grad" in text or "inference_mode" in text for text in (*decorators, *blocks))


def _returns(function: Function, name: str) -> bool:
    """Every return gives the changed tensor, which has not got another value on the way."""
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    return bool(returns) and all(
        node.value is not None
        and (
            (isinstance(node.value, ast.Name) and node.value.id == name)
            or (
                ast.unparse(node.value).startswith((f"{name}.", f"F.relu_({name}"))
                and _ends_in_place(node.value)
            )
        )
        for node in returns
    )


def _ends_in_place(value: ast.expr) -> bool:
    """`return t.mul_(2).add_(1)`: in-place methods all the way."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if not value.func.attr.endswith("_"):
            return False
        value = value.func.value
    return isinstance(value, ast.Name)


def _given(call: ast.Call, function: Function, name: str, bound: bool) -> ast.expr | None:
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    names = names[1:] if bound else names
    if name in names and names.index(name) < len(call.args):
        return call.args[names.index(name)]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
