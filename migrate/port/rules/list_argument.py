"""A container of cells takes a list, where torch takes anything that can be iterated over."""

from __future__ import annotations

import ast

import libcst as cst

from migrate.port.calls.call import Call, Refusal
from migrate.port.rules import becomes, rule
from migrate.port.syntax.nodes import literal


@rule(
    becomes("nn.ModuleList()", "nn.CellList()"),
    becomes("nn.ModuleList([nn.ReLU()])", "nn.CellList([nn.ReLU()])"),
    becomes(
        "nn.ModuleList(nn.Linear(2, 2) for _ in range(3))",
        "nn.CellList([nn.Dense(2, 2) for _ in range(3)])",
    ),
    becomes("nn.ModuleList(layers)", "nn.CellList(list(layers))"),
    becomes(
        "nn.ModuleList([nn.ReLU(), nn.Tanh() if k else None])",
        "helpers.ModuleList([nn.ReLU(), nn.Tanh() if k else None])",
    ),
)
def list_argument(call: Call) -> None:
    name = next(iter(call.slots), "")
    if not name or literal(call.value(name)) == "None":
        call.slots.clear()
        return
    value = call.value(name)
    if _may_hold_none(value) or _is_given_none(value, call.around):
        raise Refusal("a CellList holds cells only")
    if isinstance(value, cst.GeneratorExp):
        value = cst.ListComp(elt=value.elt, for_in=value.for_in)
    elif not isinstance(value, cst.List | cst.ListComp):
        value = cst.Call(func=cst.Name("list"), args=[cst.Arg(value)])
    slot = call.slots[name]
    slot.value = value
    if slot.source is not None:
        slot.source = slot.source.with_changes(
            value=value, keyword=None, equal=cst.MaybeSentinel.DEFAULT
        )
    call.varargs, call.slots = [slot], {}


def _may_hold_none(value: cst.BaseExpression) -> bool:
    """`[norm, pool if last else None]`: torch keeps the place of a layer that is not there."""
    if isinstance(value, cst.List):
        return any(_may_be_none(element.value) for element in value.elements)
    return isinstance(value, cst.ListComp | cst.GeneratorExp) and _may_be_none(value.elt)


def _is_given_none(value: cst.BaseExpression, around: ast.AST | None) -> bool:
    """`layers.append(None)`, before `nn.ModuleList(layers)`."""
    if not isinstance(value, cst.Name) or around is None:
        return False
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("append", "insert")
        and getattr(node.func.value, "id", "") == value.value
        and node.args
        and _names_none(node.args[-1], around)
        for node in ast.walk(around)
    )


def _names_none(node: ast.expr, around: ast.AST) -> bool:
    """None, a choice that may be it, or a variable that is given it somewhere."""
    if isinstance(node, ast.IfExp):
        return _names_none(node.body, around) or _names_none(node.orelse, around)
    if isinstance(node, ast.Name):
        given = [
            other.value
            for other in ast.walk(around)
            if isinstance(other, ast.Assign)
            and any(getattr(target, "id", "") == node.id for target in other.targets)
        ]
        return any(isinstance(each, ast.Constant) and each.value is None for each in given)
    return isinstance(node, ast.Constant) and node.value is None


def _may_be_none(value: cst.BaseExpression) -> bool:
    if isinstance(value, cst.IfExp):
        return _may_be_none(value.body) or _may_be_none(value.orelse)
    return isinstance(value, cst.Name) and value.value == "None"
