"""Buffers and parameters that get a new value: MindSpore's buffers take none, and a Parameter
keeps its place by its name.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.syntax.access import attribute_of
from migrate.syntax.ast_index import nodes_of
from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.nodes import fill, in_quotes
from migrate.syntax.text import code

KEEPS_VALUE = frozenset({"requires_grad_", "detach_", "share_memory_"})  # for all their names
_METHODS = (ast.FunctionDef, ast.AsyncFunctionDef)


def find_stateful_buffers(tree: ast.Module) -> dict[ast.AST, str]:
    """register_buffer calls -> the names they register, for names that something writes to."""
    registered: dict[ast.AST, str] = {}
    written: set[str] = set()
    for node in nodes_of(tree, ast.Call, ast.Assign, ast.AugAssign):
        if isinstance(node, ast.Call):
            name = _registered(node)
            if name:
                registered[node] = name
            elif _changes_in_place(node):
                written |= _attributes(node.func.value)  # type: ignore[attr-defined]
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                written |= _attributes(target)
        elif isinstance(node, ast.AugAssign):
            written |= _attributes(node.target)
    return {call: name for call, name in registered.items() if name in written}


def find_buffers_before(tree: ast.Module, stateful: dict[ast.AST, str]) -> dict[ast.AST, str]:
    """register_buffer calls in front of stateful ones -> the names they register.

    They become Parameters as well: MindSpore lists its buffers behind all Parameters of a Cell.
    """
    found: dict[ast.AST, str] = {}
    for cls in nodes_of(tree, ast.ClassDef) if stateful else ():
        calls = [call for call in nodes_of(cls, ast.Call) if _registered(call)]
        last = max((call.lineno for call in calls if call in stateful), default=0)
        found |= {call: _registered(call) for call in calls if call.lineno < last}
    return {call: name for call, name in found.items() if call not in stateful}


def without_value(tree: ast.Module) -> set[str]:
    """Buffers that are None at first: plain attributes, which get a new tensor each time."""
    return {
        _registered(node)
        for node in nodes_of(tree, ast.Call)
        if _registered(node)
        and isinstance(node.args[1], ast.Constant)
        and node.args[1].value is None
    }


def _registered(node: ast.Call) -> str:
    """`self.register_buffer("mean", ...)`: the name it gives."""
    if (
        attribute_of(node.func) == "register_buffer"
        and len(node.args) > 1
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
        and node.args[0].value.isidentifier()
    ):
        return node.args[0].value
    return ""


def _changes_in_place(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return name.endswith("_") and not name.endswith("__") and name not in KEEPS_VALUE


def _attributes(target: ast.expr) -> set[str]:
    """The attributes that an assignment to this target changes."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return {name for part in target.elts for name in _attributes(part)}
    while isinstance(target, (ast.Subscript, ast.Starred, ast.Call)) or (
        isinstance(target, ast.Attribute)
        and target.attr == "data"
        and not isinstance(target.value, ast.Name)
    ):
        target = target.func if isinstance(target, ast.Call) else target.value
        if isinstance(target, ast.Attribute) and target.attr.endswith("_"):
            target = target.value  # self.mean.mul_(0.9).add_(...)
    return {target.attr} if isinstance(target, ast.Attribute) else set()


def as_parameter(
    name: str, receiver: cst.BaseExpression, call: cst.Call, spelling: ImportPlanner
) -> cst.Assign:
    """`self.mean = helpers.buffer(zeros, "mean")`, for a buffer that is given new values."""
    value = call.args[1].value
    quoted = in_quotes(f"'{name}'", spelling.quote)
    rest = ", ".join([quoted, *(f"persistent={code(a.value)}" for a in call.args[2:])])
    if code(value) != "None":
        helper = spelling.name("helpers.buffer")
        value = fill(f"{helper}({{value}}, {rest})", {"value": value}, str)
    elif len(call.args) == 2:
        helper = spelling.name("helpers.late_buffer")
        value = fill(f"{helper}({{module}}, {quoted})", {"module": receiver}, str)
    target = cst.Attribute(value=receiver, attr=cst.Name(name))
    return cst.Assign(targets=[cst.AssignTarget(target)], value=value)


def replaced_parameter(target: cst.Attribute, made: cst.Call, spelling: ImportPlanner) -> cst.Expr:
    """`layer.weight = nn.Parameter(w)`: in MindSpore the new one must bear the old one's name."""
    quoted = in_quotes(f"'{target.attr.value}'", spelling.quote)
    helper = spelling.name("helpers.set_parameter")
    call = fill(f"{helper}({{layer}}, {quoted})", {"layer": target.value}, str)
    assert isinstance(call, cst.Call)
    return cst.Expr(call.with_changes(args=[*call.args, *made.args]))
