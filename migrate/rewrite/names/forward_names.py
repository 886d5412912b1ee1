"""`forward` where it is a name and no definition: a class's member, or a text for getattr.

A Cell's is called construct; `net.forward = f` would be an attribute that nobody calls.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline.context import Context
from migrate.pipeline.refusal import Refusal
from migrate.resolve.members import class_is_module, is_module_value
from migrate.resolve.values import UNKNOWN, ProjectClass, Value, options_of
from migrate.syntax.access import is_store

_BY_NAME = ("getattr", "hasattr", "setattr", "delattr", "getattr_static")


def has_construct(value: Value) -> bool:
    """A Module, or a class of them."""
    options = options_of(value)
    return is_module_value(value) or (
        bool(options) and all(isinstance(o, ProjectClass) and class_is_module(o) for o in options)
    )


def written_to_unknown(partner: ast.AST | None, context: Context) -> Refusal | None:
    """`m.forward = f`, `setattr(m, "forward", f)`: if m is a Module, nobody will call it."""
    if isinstance(partner, ast.Attribute):
        owner = partner.value
        written = partner.attr == "forward" and is_store(partner)
    elif isinstance(partner, ast.Call) and len(partner.args) == 3:
        owner = partner.args[0]
        written = ast.unparse(partner.func) == "setattr" and _is_forward(partner.args[1])
    else:
        return None
    if written and context.type(owner) is UNKNOWN and ast.unparse(owner) != "self":
        return Refusal(
            ".forward is called construct on a MindSpore Cell, and this value's type is not known",
            "annotate the variable, or write construct",
            "MS307",
        )
    return None


def by_name(partner: ast.Call, updated: cst.Call, context: Context) -> cst.Call:
    """`hasattr(net, "forward")`: the method's name in MindSpore."""
    asked = ast.unparse(partner.func).rpartition(".")[2]
    if (
        asked in _BY_NAME
        and len(partner.args) > 1
        and len(updated.args) > 1
        and _is_forward(partner.args[1])
        and has_construct(context.type(partner.args[0]))
    ):
        name = updated.args[1].with_changes(value=_construct(updated.args[1].value))
        return updated.with_changes(args=[updated.args[0], name, *updated.args[2:]])
    return updated


def membership_test(
    partner: ast.AST | None, updated: cst.Comparison, context: Context
) -> cst.Comparison:
    """`"forward" in cls.__dict__`"""
    if (
        isinstance(partner, ast.Compare)
        and len(partner.ops) == 1
        and _is_forward(partner.left)
        and isinstance(partner.ops[0], (ast.In, ast.NotIn))
    ):
        names = partner.comparators[0]
        owner = names.value if isinstance(names, ast.Attribute) else None
        if isinstance(names, ast.Call) and ast.unparse(names.func) in ("dir", "vars"):
            owner = names.args[0] if names.args else None
        elif isinstance(names, ast.Attribute) and names.attr != "__dict__":
            owner = None
        if owner is not None and has_construct(context.type(owner)):
            return updated.with_changes(left=_construct(updated.left))
    return updated


def _is_forward(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "forward"


def _construct(text: cst.BaseExpression) -> cst.BaseExpression:
    assert isinstance(text, cst.SimpleString)
    return text.with_changes(value=text.value.replace("forward", "construct"))
