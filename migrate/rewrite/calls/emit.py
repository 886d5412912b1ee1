"""Write a bound call as MindSpore source: the row's facts, then its rules, then the new call."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import libcst as cst

from migrate.resolve.values import INT, ListOf, TupleOf, options_of
from migrate.rewrite.calls.argument_layout import lay_out
from migrate.rewrite.calls.call import MISSING, Call, Refusal, Slot
from migrate.rewrite.calls.dtype_arguments import settle_dtypes
from migrate.rewrite.calls.size_arguments import settle_sizes, with_constant_sizes
from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.nodes import (
    as_tuple,
    atomic,
    expression,
    fill,
    holes,
    in_quotes,
    is_cheap,
    keyword_argument,
    literal,
    styled,
)
from migrate.table.mint import in_mint

Rules = dict[str, Callable[[Call], None]]


def write_first(
    calls: list[Call], spelling: ImportPlanner, rules: Rules
) -> tuple[Call, cst.BaseExpression]:
    """Write the first form that can be carried over.

    The reason why the best one cannot is the one to tell.
    """
    reason: Refusal | None = None
    for call in calls:
        try:
            return call, write_call(call, spelling, rules)
        except Refusal as refusal:
            reason = reason or refusal
    assert reason is not None
    raise reason


def write_call(call: Call, spelling: ImportPlanner, rules: Rules) -> cst.BaseExpression:
    """The MindSpore expression for a torch call; raises Refusal when it cannot be certain.

    A row may state a helper beside its direct form: the helper has torch's signature and decides
    at run time what cannot be decided here.
    """
    call.quote = spelling.quote
    if spelling.mint and call.overload.mint:
        try:
            return _in_mint(call, spelling)
        except Refusal:
            if call.entry.kind == "class":
                raise  # its instances must all be of one kind
    direct = bool(call.target or call.emit or call.overload.rules)
    settle_dtypes(call, spelling)
    try:
        _apply_facts(call)
        for name in call.overload.rules:
            rules[name](call)
        if call.emit:
            return _from_template(call, spelling)
        if call.target:
            return _from_target(call, spelling)
    except Refusal as refusal:
        if refusal.final or not (call.helper and direct):
            raise
    if call.helper:
        return arguments_kept(call, spelling.name(f"helpers.{call.helper}"))
    if call.entry.kind in ("context", "decorator") and call.entry.status != "missing":
        return cst.Name("None")
    raise Refusal(call.entry.note or "has no counterpart in MindSpore", call.entry.way, "MS301")


def _in_mint(call: Call, spelling: ImportPlanner) -> cst.BaseExpression:
    """The call with mint's facts, in a copy: the classic form may have to do after all."""
    for name in call.overload.mint_facts.get("need", ()):
        if not call.given(name):
            raise Refusal(f"mindspore.mint requires {name}", f"state {name}")
    form = in_mint(call.overload)
    slots = {name: replace(slot) for name, slot in call.slots.items()}
    copy = replace(call, overload=form, slots=slots, target=form.mindspore, emit=form.emit)
    for name in call.overload.mint_facts.get("floats", ()):
        _as_floats(copy, name)
    _apply_facts(copy)
    for hole in holes(copy.emit):
        if not copy.given(hole) and hole != "self" and copy.parameter(hole).default == "None":
            copy.emit = re.sub(rf", \w+=\{{{hole}\}}", "", copy.emit)  # mint's default, too
    return _from_template(copy, spelling) if copy.emit else _from_target(copy, spelling)


def _as_floats(call: Call, name: str) -> None:
    """torch takes whole numbers for floats; some kernels do not. What is no literal stays."""
    value = call.constant(name) if call.given(name) else None
    if isinstance(value, (int, tuple, list)) and not isinstance(value, bool):
        parts = [value] if isinstance(value, int) else value
        if all(isinstance(part, (int, float)) for part in parts):
            floats = float(value) if isinstance(value, int) else type(value)(map(float, value))
            call.slots[name].value = expression(repr(floats))


def _as_truth(call: Call) -> None:
    """`bias=0` is a truth value to torch, and a number of the wrong type to MindSpore."""
    for name, slot in call.slots.items():
        parameter = call.signature.get(name) if call.signature else None
        if parameter is None or parameter.default not in ("True", "False"):
            continue
        if isinstance(slot.value, cst.Integer) and slot.value.value in ("0", "1"):
            slot.value = cst.Name(str(slot.value.value == "1"))
            if slot.source is not None:
                slot.source = slot.source.with_changes(value=slot.value)


def _as_real(call: Call) -> None:
    """`eps=1`: torch takes a whole number for a float, MindSpore's operators do not."""
    for name, slot in call.slots.items():
        parameter = call.signature.get(name) if call.signature else None
        if parameter is None or slot.value is None or not _is_real(parameter.default):
            continue
        if name == "lr" and call.helper:
            continue  # our optimizers take any number, and show it as it was written
        new = _real_value(slot)
        if new is not None:
            slot.value = new
            if slot.source is not None and call.node is not None:
                old, slot.source = slot.source, slot.source.with_changes(value=new)
                given = [
                    slot.source if argument is old else argument for argument in call.node.args
                ]
                call.node = call.node.with_changes(args=given)


def _is_real(default: str) -> bool:
    """The default is a float, or a tuple of floats."""
    try:
        value = ast.literal_eval(default)
    except (ValueError, SyntaxError):
        return False
    parts = value if isinstance(value, tuple) and value else (value,)
    return all(isinstance(part, float) for part in parts)


def _real_value(slot: Slot) -> cst.BaseExpression | None:
    """The argument as a float; None where it may be one already."""
    if isinstance(slot.value, cst.Integer):
        return cst.Float(f"{slot.value.value}.0") if slot.value.value.isdigit() else None
    if isinstance(slot.value, cst.Tuple):
        elements = [
            element.with_changes(value=cst.Float(f"{element.value.value}.0"))
            if isinstance(element.value, cst.Integer) and element.value.value.isdigit()
            else element
            for element in slot.value.elements
        ]
        return slot.value.with_changes(elements=elements)
    if slot.type is not INT or slot.value is None:
        return None
    return cst.Call(func=cst.Name("float"), args=[cst.Arg(slot.value)])


def _apply_facts(call: Call) -> None:
    overload = call.overload
    _as_truth(call)
    _as_real(call)
    for name, reason in overload.refuse.items():
        if call.given(name):
            if not call.is_default(name):
                raise Refusal(f"{name}: {reason}", call.entry.way)
            call.replace(name)
    for name in overload.drop:
        if call.given(name):
            call.replace(name)
    settle_sizes(call)
    for name, table in overload.values.items():
        if call.given(name):
            _map_constant(call, name, table)


def _map_constant(call: Call, name: str, table: Any) -> None:
    value = call.constant(name)
    if value is MISSING:
        known = ", ".join(table)
        raise Refusal(
            f"{name} is computed, and MindSpore takes other values here (known: {known})",
            call.entry.way,
        )
    for torch_text, new_text in table.items():
        if ast.literal_eval(torch_text) == value and type(ast.literal_eval(torch_text)) is type(
            value
        ):
            call.replace(
                name, *([(call.overload.rename.get(name, name), new_text)] if new_text else [])
            )
            return
    raise Refusal(f"{name}={value!r} has no counterpart in MindSpore", call.entry.way)


# Templates --------------------------------------------------------------------------------------


def _from_template(call: Call, spelling: ImportPlanner) -> cst.BaseExpression:
    values: dict[str, cst.BaseExpression] = {}
    for hole in holes(call.emit):
        if hole == "self":
            assert call.receiver is not None
            values[hole] = call.receiver
        elif (
            call.signature is not None
            and call.signature.varargs
            and hole == call.signature.varargs.name
            and hole not in call.slots
        ):
            values[hole] = _as_tuple(call.varargs, spelling)
        elif hole in call.slots and call.slots[hole].outputs:
            values[hole] = call.slots[hole].outputs[0][1]  # type: ignore[index]
        else:
            values[hole] = call.value(hole)
    _evaluated_once(call.emit, values)
    return fill(in_quotes(call.emit, call.quote), values, spelling.name)


def _evaluated_once(template: str, values: dict[str, cst.BaseExpression]) -> None:
    """A hole that stands twice must not run a computation twice."""
    used = holes(template)
    for name, value in values.items():
        if used.count(name) > 1 and not is_cheap(value):
            raise Refusal(
                f"{name} is used twice in MindSpore's form and would be computed twice",
                "assign it to a variable first",
                "MS313",
            )


def _as_tuple(slots: list[Slot], spelling: ImportPlanner) -> cst.BaseExpression:
    """`x.view(a, b)` and `x.view((a, b))` both give one tuple."""
    if len(slots) == 1 and not (slots[0].source and slots[0].source.star):
        kinds = options_of(slots[0].type)
        if isinstance(slots[0].value, cst.List):
            return as_tuple(slots[0].value)
        if all(isinstance(kind, ListOf) and kind.kind == "list" for kind in kinds):
            return cst.Call(func=cst.Name("tuple"), args=[cst.Arg(slots[0].value)])
        if all(isinstance(kind, (ListOf, TupleOf)) for kind in kinds):
            return slots[0].value
        if literal(slots[0].value) is None and slots[0].type is not INT:
            return expression(f"{spelling.name('helpers.as_shape')}()").with_changes(
                args=[cst.Arg(slots[0].value)]
            )
    elements = [
        cst.StarredElement(slot.value)
        if slot.source and slot.source.star
        else cst.Element(slot.value)
        for slot in slots
    ]
    if len(elements) == 1:
        elements = [elements[0].with_changes(comma=cst.Comma())]
    return cst.Tuple(elements, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


# Calls with arguments ---------------------------------------------------------------------------


def arguments_kept(call: Call, callee: str) -> cst.BaseExpression:
    """A helper has torch's own signature: the arguments stay as they are written.

    Those that mean nothing here do not: no helper repeats torch's device and layout.
    """
    assert call.node is not None
    arguments = with_constant_sizes(call, list(call.node.args))
    arguments = _without_last(call, arguments)
    arguments = [argument for argument in arguments if not _without_effect(call, argument)]
    if arguments and len(arguments) < len(call.node.args):
        arguments[-1] = arguments[-1].with_changes(comma=call.node.args[-1].comma)
    if call.receiver is not None:
        arguments = [cst.Arg(call.receiver), *arguments]
    return call.node.with_changes(func=expression(callee), args=arguments)


def _without_last(call: Call, arguments: list[cst.Arg]) -> list[cst.Arg]:
    """Without the last arguments by position that the row drops: those before keep their places."""
    names = [one.name for one in call.signature.positional] if call.signature else []
    by_place = [argument for argument in arguments if argument.keyword is None]
    if any(argument.star for argument in arguments) or len(by_place) > len(names):
        return arguments
    while by_place and names[len(by_place) - 1] in call.overload.drop:
        arguments = [argument for argument in arguments if argument is not by_place[-1]]
        by_place.pop()
    return arguments


def _without_effect(call: Call, argument: cst.Arg) -> bool:
    """Written by keyword, and either dropped by the row or refused but left at torch's default."""
    name = argument.keyword.value if argument.keyword is not None else ""
    if name in call.overload.drop:
        return True
    return name in call.overload.refuse and call.is_default(name)


def _from_target(call: Call, spelling: ImportPlanner) -> cst.BaseExpression:
    arguments = _arguments(call, spelling)
    member = _member_of_receiver(call.target) if call.entry.kind == "method" else ""
    receiver = call.receiver
    if member and receiver is not None:
        function: cst.BaseExpression = cst.Attribute(value=atomic(receiver), attr=cst.Name(member))
    else:
        function = expression(spelling.name(call.target))
        if receiver is not None:
            arguments = [cst.Arg(receiver), *arguments]
    assert call.node is not None
    return lay_out(call.node, function, arguments)


def _member_of_receiver(target: str) -> str:
    """The method's name, where the target is the method of a class and not a function."""
    owner, _, name = target.rpartition(".")
    return name if owner.rpartition(".")[2][:1].isupper() else ""


def _arguments(call: Call, spelling: ImportPlanner) -> list[cst.Arg]:
    """Required leading arguments by position, all others by MindSpore's keyword, then the pins."""
    signature = call.signature
    if signature is None:
        return list(call.node.args) if call.node else []
    leading = [p.name for p in signature.positional if p.required]
    rename = call.overload.rename
    positional: list[cst.Arg] = []
    keywords: list[cst.Arg] = []
    for slot in call.slots.values():
        if slot.outputs is not None:
            keywords += [_argument(name, value, slot) for name, value in slot.outputs]
        elif (
            slot.positional and slot.name in leading and len(positional) == leading.index(slot.name)
        ):
            assert slot.source is not None
            positional.append(slot.source)
        else:
            keywords.append(_argument(rename.get(slot.name, slot.name), slot.value, slot))
    positional += [slot.source for slot in call.varargs if slot.source is not None]
    keywords += [keyword_argument(name, value) for name, value in call.extra]
    present = {argument.keyword.value for argument in keywords if argument.keyword}
    for name, text in call.overload.pin.items():
        if name not in present:
            text = spelling.name(text) if text.startswith("mindspore.") else text
            keywords.append(keyword_argument(name, styled(text, call.quote)))
    return positional + keywords


def _argument(name: str, value: cst.BaseExpression, slot: Slot) -> cst.Arg:
    if slot.source is None:
        return keyword_argument(name, value)
    if slot.source.keyword is not None:
        return slot.source.with_changes(keyword=cst.Name(name), value=value)
    return keyword_argument(name, value).with_changes(
        comma=slot.source.comma, whitespace_after_arg=slot.source.whitespace_after_arg
    )
