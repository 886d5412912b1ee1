"""Branches on a tensor: Graph mode compiles both sides, so both must give the same things."""

from __future__ import annotations

import ast

from migrate.flow.cfg import ControlFlow
from migrate.flow.compiled_nodes import Function
from migrate.flow.def_use import DefUse
from migrate.resolve.values import UNKNOWN, ListOf, TupleOf, Value, is_tensor
from migrate.syntax.access import stored_names


def mismatch(node: ast.If | ast.While, types: dict[ast.AST, Value], function: Function) -> str:
    """In what the two sides certainly differ; empty when nothing is known against them."""
    if isinstance(node, ast.If):
        return _half_bound(node, function) or _unequal_returns(node, types, function)
    changed = _resized(node, types)
    return f"{changed} may change its shape in the loop" if changed else ""


def on_tensor(test: ast.expr, types: dict[ast.AST, Value]) -> bool:
    """Whether a tensor's value decides: `x.sum() > 0`, also inside and / or / not."""
    if isinstance(test, ast.BoolOp):
        return any(on_tensor(part, types) for part in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return on_tensor(test.operand, types)
    return is_tensor(types.get(test, UNKNOWN))


def _half_bound(node: ast.If, function: Function) -> str:
    """A name that only one side binds and that is read afterwards."""
    if _leaves(node.body) or _leaves(node.orelse):
        return ""
    defuse = DefUse(ControlFlow(function))
    inside = set(ast.walk(node))
    for name in sorted(_bound(node.body) ^ _bound(node.orelse)):
        given = [one for one in defuse.definitions(name) if one.node in inside]
        outside = (read for one in given for read in defuse.uses(one) if read not in inside)
        if not defuse.reaching_at(node, name) and any(outside):
            return f"{name} is bound on one side only"
    return ""


def _unequal_returns(node: ast.If, types: dict[ast.AST, Value], function: Function) -> str:
    """A tensor returned on one side, several values on the other; None beside a tensor compiles."""
    inside = {_shape(r.value, types) for r in _returns(node.body)} - {"None"}
    if not inside or "" in inside:
        return ""
    cfg = ControlFlow(function)
    after = node.orelse or [s for s in function.body if cfg.follows(node, s)]
    outside = {_shape(r.value, types) for r in _returns(after)} - {"None"}
    if not outside or "" in outside or inside == outside:
        return ""
    first, second = min(inside), min(outside)
    return f"it returns {first} on one side and {second} on the other" if first != second else ""


def _shape(value: ast.expr | None, types: dict[ast.AST, Value]) -> str:
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return "None"
    found = types.get(value, UNKNOWN)
    if is_tensor(found):
        return "a tensor"
    if isinstance(found, TupleOf):
        return f"{len(found.items)} values"
    if isinstance(found, ListOf):
        return f"a {found.kind}"
    return ""


def _resized(node: ast.While, types: dict[ast.AST, Value]) -> str:
    """A tensor that a loop joins to itself: its shape depends on the number of rounds."""
    for part in ast.walk(node):
        if not isinstance(part, ast.Assign) or not isinstance(part.value, ast.Call):
            continue
        called = getattr(part.value.func, "attr", getattr(part.value.func, "id", ""))
        target = part.targets[0]
        if called in ("cat", "concat", "stack", "hstack", "vstack") and isinstance(
            target, ast.Name
        ):
            names = {n.id for n in ast.walk(part.value) if isinstance(n, ast.Name)}
            if target.id in names:
                return target.id
    return ""


def _returns(body: list[ast.stmt]) -> list[ast.Return]:
    return [n for s in body for n in ast.walk(s) if isinstance(n, ast.Return)]


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Break, ast.Continue))


def _bound(body: list[ast.stmt]) -> set[str]:
    return stored_names(node for statement in body for node in ast.walk(statement))
