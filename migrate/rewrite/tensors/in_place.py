"""How a change in place is written.

    x.add_(1)  ->  x = x + 1                      nobody else holds x
                   y = x = x + 1                  the name y holds it too, in differentiated code
                   helpers.set_value(x, x + 1)    others hold it, in code without gradients
                   x = x + 1; row = x[0]          a view of it is read later, in such code
                   a finding                      others hold it, and neither form is right

`set_value` writes through to views and holders, as torch does. Graph mode and gradients of views
know no such write, so differentiated code gets new tensors.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from migrate.flow.alias import Observer
from migrate.flow.answer import Answer
from migrate.pipeline.context import Context
from migrate.resolve.values import (
    PARAMETER,
    Instance,
    Known,
    ProjectClass,
    Value,
    is_tensor,
    options_of,
)
from migrate.rewrite.tensors.write_back import write_back
from migrate.syntax.ast_index import all_nodes, remembered


@dataclass(frozen=True, slots=True)
class Form:
    """`names` get the new value as well; `seen_by` says who would miss it."""

    kind: Literal["rebind", "through", "flag"]
    names: tuple[str, ...] = ()
    seen_by: str = ""
    after: tuple[str, ...] = ()  # lines behind the statement, for views


REBIND = Form("rebind")
THROUGH = Form("through")


def in_place_form(place: ast.expr, context: Context, *, compiled: bool) -> Form:
    """The form for a change of `place`, an expression of the file in hand."""
    flow = context.flow.around(place)
    observers = flow.aliases.observers(place) if flow is not None else []
    if not compiled and _is_item_from_outside(place, context):
        return THROUGH
    if not compiled and _is_part_of_parameter(place, context):
        # `p[:n] = 1` writes into the Parameter, whoever holds it; only views are copies.
        observers = [o for o in observers if o.kind == "name" and o.relation != "same"]
    if not observers:
        return REBIND
    if compiled:
        return _functional(observers, place, context)
    if all(o.kind == "caller" for o in observers):
        return THROUGH if writes_to_caller(place, context) else REBIND
    if any(o.relation == "maybe" and o.kind == "name" for o in observers):
        return _functional(
            observers, place, context
        )  # MindSpore's casts copy where torch's may not
    differentiated = is_differentiated(place, context)
    named = any(o.kind == "name" for o in observers)
    if differentiated is Answer.YES or (differentiated is Answer.UNKNOWN and named):
        return _functional(observers, place, context)
    return THROUGH


def _is_part_of_parameter(place: ast.expr, context: Context) -> bool:
    """`p.data[:n]`, where p is a Parameter."""
    root = place
    while isinstance(root, ast.Subscript) or getattr(root, "attr", "") == "data":
        assert isinstance(root, (ast.Subscript, ast.Attribute))
        root = root.value
    return isinstance(place, ast.Subscript) and context.type(root) is PARAMETER


def is_differentiated(place: ast.expr, context: Context) -> Answer:
    """Does a gradient flow through what the place holds?"""
    gradient = context.flow.gradient
    if gradient.is_recorded(place).no:
        return Answer.NO
    carries = gradient.carries(_root(place)).answer
    if carries is Answer.UNKNOWN and gradient.is_recorded(place).yes:
        return Answer.YES
    return carries


def writes_to_caller(place: ast.expr, context: Context) -> bool:
    """`def fill_(tensor): tensor.mul_(2)`: whoever passed the tensor expects to see it change.

    The name of the function says so, or that it computes without gradients, or that it returns
    no tensor, or that it does not look at the tensor after the change: that is for the caller
    alone. Of a function that computes its result with the changed tensor, callers take that.
    """
    flow = context.flow.around(place)
    function = flow.node if flow is not None else None
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    gradient = context.flow.gradient
    named = function.name.endswith("_") and not function.name.endswith("__")
    if named or gradient.is_recorded(place).no or returns_nothing(function):
        return True
    carries = gradient.carries(_root(place))
    if not carries.unknown:
        return carries.no
    return not _may_return_tensors(function, context) or _is_last_use(place, context)


def _is_last_use(place: ast.expr, context: Context) -> bool:
    """`total.copy_(t); return t`: nothing in the function reads the changed tensor any more."""
    flow = context.flow.around(place)
    statement = flow.cfg.statement_of(place) if flow is not None else None
    root = _root(place)
    if flow is None or not isinstance(statement, ast.Expr) or not isinstance(root, ast.Name):
        return False
    if flow.defuse.read_after(statement, root.id):
        return False
    return all(o.kind == "caller" for o in flow.aliases.observers(place))


def _results(function: ast.AST) -> list[ast.expr]:
    return [
        node.value
        for node in all_nodes(function)
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) and node.value is not None
    ]


def _may_return_tensors(function: ast.AST, context: Context) -> bool:
    """`return 0.5` or `return x.shape` gives none; what is not known may be one."""
    results = list(remembered(function, _results))
    while results:
        result = results.pop()
        if isinstance(result, ast.Tuple):
            results += result.elts
        elif any(map(_may_be_tensor, options_of(context.type(result)))):
            return True
    return False


def _may_be_tensor(value: Value) -> bool:
    if isinstance(value, Instance) and isinstance(value.cls, str):
        return is_tensor(value) or not value.cls.startswith(("builtins.", "numpy."))
    return not isinstance(value, Known)


def returns_nothing(function: ast.AST) -> bool:
    """No value comes back, and no training step is taken inside."""
    return not any(
        (isinstance(node, ast.Return) and node.value is not None)
        or isinstance(node, (ast.Yield, ast.YieldFrom))
        or (isinstance(node, ast.Attribute) and node.attr == "backward")
        for node in all_nodes(function)
    )


def _functional(observers: list[Observer], place: ast.expr, context: Context) -> Form:
    """New tensors only: names of the very same tensor are bound to it, too."""
    inside = [o for o in observers if o.kind != "caller"]
    if not inside:
        return REBIND  # the call sites take the result
    if all(o.kind == "name" and o.relation == "same" for o in inside):
        return Form("rebind", tuple(o.name for o in inside))
    same = tuple(o.name for o in inside if o.kind == "name" and o.relation == "same")
    lines = write_back(place, [o for o in inside if o.name not in same], context)
    if lines is not None:
        return Form("rebind", same, after=tuple(lines))
    worst = next(o for o in inside if o.kind != "name" or o.relation != "same")
    return Form("flag", seen_by=str(worst))


def _is_item_from_outside(place: ast.expr, context: Context) -> bool:
    """`self.shadow[name]`: whoever filled the list or the dict may hold the tensor as well."""
    flow = context.flow.around(place)
    if flow is None or not isinstance(place, ast.Subscript) or not is_held_item(place, context):
        return False
    holders = flow.aliases.refs(place.value)
    if not any(ref.memory.outside for ref in holders):
        return False
    return is_differentiated(place, context) is not Answer.YES


def is_held_item(place: ast.expr, context: Context) -> bool:
    """`state["average"]`, `tensors[0]`: an item of a list or a dict, not a part of a tensor."""
    return (
        isinstance(place, ast.Subscript)
        and not is_tensor(context.type(place.value))
        and (is_tensor(context.type(place)) or _is_state(place.value, context))
    )


def _is_state(node: ast.expr, context: Context) -> bool:
    """A state dict: its items are the parameters and buffers themselves."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "state_dict"
    if not isinstance(node, ast.Name):
        return False
    flow = context.flow.around(node)
    definitions = flow.defuse.reaching(node) if flow is not None else ()
    return any(d.value is not None and _is_state(d.value, context) for d in definitions)


def holds_tensor(place: ast.expr, context: Context) -> bool:
    """`box.t`, where the class stores an argument of its constructor that is a tensor here."""
    if is_tensor(context.type(place)):
        return True
    if not isinstance(place, ast.Attribute):
        return False
    for option in options_of(context.type(place.value)):
        cls = option.cls if isinstance(option, Instance) else None
        if isinstance(cls, ProjectClass) and _is_given_tensor(cls, place.attr, context):
            return True
    return False


def _is_given_tensor(cls: ProjectClass, attribute: str, context: Context) -> bool:
    for value, method in context.flow.effects.layers.assigned(cls, attribute):
        names = [argument.arg for argument in method.node.args.args[1:]]
        if is_tensor(context.type(value)):
            return True
        if not isinstance(value, ast.Name) or value.id not in names:
            continue
        for call in context.flow.calls.constructions(cls):
            at = names.index(value.id)
            given = call.args[at] if at < len(call.args) else None
            given = next((k.value for k in call.keywords if k.arg == value.id), given)
            if given is not None and is_tensor(context.type(given)):
                return True
    return False


def shares_memory(place: ast.expr, context: Context) -> bool:
    """`x.diagonal().fill_(1)`: a temporary, but a view of something that lives on."""
    flow = context.flow.around(place)
    observers = flow.aliases.observers(place) if flow is not None else []
    return any(o.relation in ("same", "view") for o in observers)


def is_gradient(place: ast.expr) -> bool:
    """`p.grad`, `p.grad.data`: an attribute that a step has filled, and nobody else holds."""
    while isinstance(place, ast.Attribute) and place.attr == "data":
        place = place.value
    return isinstance(place, ast.Attribute) and place.attr == "grad"


def keeps_dtype(left: ast.expr, right: ast.expr | None, context: Context) -> bool:
    """`half += float` stays half in torch."""
    return right is not None and context.flow.dtypes.changes(left, right)


def _root(place: ast.expr) -> ast.expr:
    while isinstance(place, ast.Subscript):
        place = place.value
    return place
