"""Forms that only a statement has: `p.requires_grad = False` for a call that stands alone, a call
for a setting that is given a new value.
"""

from __future__ import annotations

import ast
import re

import libcst as cst

from migrate.pipeline.context import Context
from migrate.resolve.hierarchy import is_module
from migrate.resolve.values import Instance, options_of
from migrate.rewrite.calls.call import Call, Refusal
from migrate.table import Entry

_VALUES = ("Tensor", "Parameter", "Module")  # what a layer computes with, whenever it is set


def use_statement_forms(calls: list[Call]) -> None:
    """Let the rows that have one write their statement: its two sides, as a pair."""
    for call in calls:
        if call.overload.statement:
            call.emit = call.overload.statement.replace(" = ", ", ")


def as_assignment(call: Call, new: cst.BaseExpression) -> cst.Assign | None:
    """The assignment that such a pair stands for."""
    if not call.overload.statement or not isinstance(new, cst.Tuple):
        return None
    target, value = (element.value for element in new.elements)
    assert isinstance(target, cst.Attribute)
    return cst.Assign(targets=[cst.AssignTarget(target)], value=value)


def written_attribute(place: ast.expr, context: Context) -> str:
    """The row's form for `layer.eps = value`; empty where assigning is right as it stands.

    MindSpore's layers hand their settings to operators when they are made: a plain assignment
    would change a number that nobody reads any more.
    """
    if not isinstance(place, ast.Attribute):
        return ""
    usage = context.usage(place)
    if usage is None:
        if _is_argument(place, context):
            raise without_effect(place)
        return ""
    entries = [context.table.get(api) for api in (usage.api, *usage.alternatives)]
    if context.spelling.mint and all(_is_of_mint(entry, context) for entry in entries):
        return ""  # mint's layers read their settings when they run, as torch's do
    forms = {entry.assign for entry in entries if entry is not None}
    if forms - {""}:
        if len(forms) == 1:
            return forms.pop()
        raise without_effect(place)
    if any(entry is not None and _is_setting(entry) for entry in entries):
        raise without_effect(place)
    if is_computed(place, context):
        if place.attr == "data" or place.attr.startswith("__"):
            return ""  # ops.assign takes care of the one, Python itself of the others
        raise Refusal(
            f"{ast.unparse(place)} is computed in MindSpore, and cannot be given a value",
            "change what it is computed from",
            "MS314",
        )
    return ""


def is_computed(place: ast.expr, context: Context) -> bool:
    """Whether an attribute is read by a call in MindSpore (`int(schedule.last_epoch)`): written,
    it stays as it is.
    """
    usage = context.usage(place) if isinstance(place, ast.Attribute) else None
    for api in (usage.api, *usage.alternatives) if usage is not None else ():
        entry = context.table.get(api)
        form = entry.main.emit if entry is not None and entry.kind == "attribute" else ""
        if form and not re.fullmatch(r"\{self\}[\w.]*", form):
            return True
    return False


def _is_of_mint(entry: Entry | None, context: Context) -> bool:
    owner = context.table.get(entry.torch.rpartition(".")[0]) if entry is not None else None
    return owner is not None and owner.kind == "class" and bool(owner.main.mint)


def _is_setting(entry: Entry) -> bool:
    owner = entry.torch.rpartition(".")[0]
    return (
        entry.kind == "attribute"
        and owner != "torch.nn.Module"
        and is_module(owner)
        and entry.returns() not in _VALUES
    )


def _is_argument(place: ast.Attribute, context: Context) -> bool:
    """An attribute that no row knows, but that a torch layer's constructor takes."""
    for option in options_of(context.type(place.value)):
        if isinstance(option, Instance) and isinstance(option.cls, str) and is_module(option.cls):
            entry = context.table.get(context.table.canonical(option.cls))
            signature = entry.main.signature if entry is not None else None
            if signature is not None and place.attr in signature.names and place.attr != "inplace":
                return True
    return False


def without_effect(place: ast.expr, step: str = "") -> Refusal:
    return Refusal(
        f"{ast.unparse(place)} is set after the layer was made, which has no effect in MindSpore",
        step or "make the layer with this value, or replace the layer",
        "MS314",
    )
