"""Tensors that a Cell keeps from call to call and changes."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from migrate.flow.cfg import ControlFlow
from migrate.flow.mutations import mutations
from migrate.pipeline.context import Context
from migrate.resolve.values import ProjectClass, is_tensor
from migrate.rewrite.cells.buffers import KEEPS_VALUE
from migrate.syntax.access import is_read
from migrate.syntax.ast_index import all_nodes, child_nodes

_HARMLESS = frozenset({"shape", "dtype", "device", "ndim", "size", "dim", "numel", "clone"})
Methods = dict[str, ast.FunctionDef]


def _methods(cls: ProjectClass) -> Methods:
    return {m.name: m for m in cls.node.body if isinstance(m, ast.FunctionDef)}


def _writes(method: ast.FunctionDef) -> Iterator[tuple[str, ast.AST]]:
    """The attributes of self that a method changes, with the statements or calls that do it."""
    for node in all_nodes(method):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            for target in node.targets:
                targets += target.elts if isinstance(target, ast.Tuple) else [target]
        elif isinstance(node, ast.AugAssign):
            targets = [node.target]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr.endswith("_")
            and not node.func.attr.startswith("_")
            and node.func.attr not in KEEPS_VALUE
        ):
            targets = [_innermost(node.func.value)]
        for part in targets:
            name = _own_attribute(part)
            if name:
                yield name, node


def _innermost(node: ast.expr) -> ast.expr:
    """x of `x.mul_(a).add_(b)`."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr.endswith("_")
    ):
        node = node.func.value
    return node


def _own_attribute(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript) or (
        isinstance(node, ast.Attribute)
        and node.attr == "data"
        and not isinstance(node.value, ast.Name)
    ):
        node = node.value
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == "self" else ""
    return ""


def is_kept_tensor(place: ast.expr, context: Context) -> bool:
    """`self.cache`, an attribute of a Module that holds a tensor."""
    return (
        isinstance(place, ast.Attribute)
        and _own_attribute(place) == place.attr
        and is_tensor(context.type(place))
    )


def _class_methods(function: ast.AST | None, context: Context) -> Methods:
    for cls in context.module_classes.values():
        methods = _methods(cls)
        if function in methods.values():
            return methods
    return {}


def _reached(methods: Methods, start: str) -> list[ast.FunctionDef]:
    found: list[ast.FunctionDef] = []
    pending = [start]
    while pending:
        method = methods.get(pending.pop())
        if method is not None and method not in found:
            found.append(method)
            pending += [name for name, _ in _own_calls(method)]
    return found


def _own_calls(method: ast.AST) -> Iterator[tuple[str, ast.Attribute]]:
    for node in all_nodes(method):
        if node.__class__ is ast.Attribute and _own_attribute(node) == node.attr:
            yield node.attr, node


# Old values -------------------------------------------------------------------------------------


def _needs_no_value(parent: ast.AST | None) -> bool:
    """`self.state[0] = x`, `self.state.shape`, `self.state.add_(1)`, `self.state is None`"""
    if isinstance(parent, ast.Subscript) and not is_read(parent):
        return True
    if isinstance(parent, ast.Attribute):
        name = parent.attr
        return name in _HARMLESS or name.endswith("_") or name == "data"
    return _asks_identity(parent)


def old_values(
    function: ast.AST | None, context: Context, stateful: Collection[str]
) -> set[ast.AST]:
    """Reads of a changing buffer whose value is still needed when the buffer has changed.

    `old = self.state` in front of the change, `return self.state` for the next call to change, or
    `x * self.state`, whose gradient needs the state as it was.
    """
    methods = _class_methods(function, context)
    if not isinstance(function, ast.FunctionDef) or function not in methods.values():
        return set()
    parents = {c: p for p in all_nodes(function) for c in child_nodes(p)}
    changes = list(_changes(function, methods))
    flow = context.flow.function(function)
    cfg = flow.cfg
    written = {part for one in mutations(flow) for part in _receivers(one.place)}
    found: set[ast.AST] = set()
    for name, node in _own_calls(function):
        places = [at for changed, at in changes if changed == name]
        if not places or not is_read(node) or name not in stateful:
            continue
        parent = parents.get(node)
        if _needs_no_value(parent) or node in written:
            continue
        if _outlives(_statement(node, cfg), places, cfg, parent):
            found.add(node)
    return found


def _receivers(place: ast.expr) -> Iterator[ast.expr]:
    """`self.state` of `self.state[i].mul_(2).add_(1)`: what is written needs no copy."""
    node: ast.expr | None = place
    while node is not None:
        yield node
        node = getattr(node, "func" if isinstance(node, ast.Call) else "value", None)


def _asks_identity(parent: ast.AST | None) -> bool:
    """`self.state is not None`: no value is read."""
    return isinstance(parent, ast.Compare) and all(
        isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops
    )


def _statement(node: ast.AST, cfg: ControlFlow) -> ast.AST | None:
    """The statement around a node; None for one in a function inside."""
    return node if isinstance(node, ast.stmt) and cfg.has(node) else cfg.statement_of(node)


def _outlives(
    statement: ast.AST | None,
    changes: list[ast.expr],
    cfg: ControlFlow,
    parent: ast.AST | None,
) -> bool:
    """What a statement reads is there when the buffer has changed."""
    if any(_changes_later(statement, _statement(at, cfg), cfg) for at in changes):
        return True
    return isinstance(statement, ast.Return) and _is_given_as_it_is(parent)


def _changes_later(read: ast.AST | None, change: ast.AST | None, cfg: ControlFlow) -> bool:
    """Below it, or above it in a loop: the next round changes what this one has read."""
    if read is None or change is None:
        return True
    return read is not change and cfg.may_follow(read, change)


def _changes(function: ast.FunctionDef, methods: Methods) -> Iterator[tuple[str, ast.expr]]:
    """Names that the function changes, itself or through methods it calls, and where."""
    for name, node in _writes(function):
        yield name, node  # type: ignore[misc]
    for called, node in _own_calls(function):
        if called in methods:
            for method in _reached(methods, called):
                if method is not function:
                    for name, _ in _writes(method):
                        yield name, node


def _is_given_as_it_is(parent: ast.AST | None) -> bool:
    return isinstance(parent, (ast.Return, ast.Tuple, ast.List, ast.Dict))
