"""What a condition tells about a name: isinstance, is None, truth."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.resolve.class_tests import by_class
from migrate.resolve.types import as_instance
from migrate.resolve.values import (
    NONE,
    UNKNOWN,
    External,
    Instance,
    ListOf,
    TupleOf,
    Union,
    Value,
    join,
    options_of,
    without_none,
)
from migrate.syntax.access import name_of

if TYPE_CHECKING:
    from migrate.resolve.statements import Statements


def narrow(state: Statements, test: ast.expr, truth: bool) -> None:
    """Refine the frame under the assumption that `test` is true (or false)."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        narrow(state, test.operand, not truth)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) == truth:
            for part in test.values:
                narrow(state, part, truth)
        else:
            _one_of(state, test.values, truth)
    elif by_class(state, test, truth):
        return
    elif isinstance(test, ast.Name):
        if truth:
            _rebind(state, test, without_none)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        _comparison(state, test, truth)
    elif (
        (isinstance(test, ast.Call) and name_of(test.func) == "isinstance")
        and len(test.args) == 2
        and isinstance(test.args[0], ast.Name)
    ):
        _isinstance(state, test.args[0], test.args[1], truth)


def _one_of(state: Statements, parts: list[ast.expr], truth: bool) -> None:
    """`a or b`: what each alone says of a name, joined; a name that one is silent on stays."""
    before = dict(state.frame.locals)
    outcomes = []
    for part in parts:
        narrow(state, part, truth)
        outcomes.append(dict(state.frame.locals))
        state.frame.locals.clear()
        state.frame.locals.update(before)
    for name, value in before.items():
        found = [outcome.get(name, UNKNOWN) for outcome in outcomes]
        if all(new is not value and new is not UNKNOWN for new in found):
            joined: Value = UNKNOWN
            for new in found:
                joined = join(joined, new)
            state.frame.locals[name] = joined


def _comparison(state: Statements, test: ast.Compare, truth: bool) -> None:
    operator, other = test.ops[0], test.comparators[0]
    if (
        not isinstance(test.left, ast.Name)
        or not isinstance(other, ast.Constant)
        or other.value is not None
    ):
        return
    if isinstance(operator, (ast.Is, ast.Eq)):
        is_none = truth
    elif isinstance(operator, (ast.IsNot, ast.NotEq)):
        is_none = not truth
    else:
        return
    if is_none:
        state.frame.locals.update(
            {test.left.id: NONE} if test.left.id in state.frame.locals else {}
        )
    else:
        _rebind(state, test.left, without_none)


def _isinstance(state: Statements, name: ast.Name, classes: ast.expr, truth: bool) -> None:
    wanted: list[Value] = []
    for part in classes.elts if isinstance(classes, ast.Tuple) else [classes]:
        value = state.base(part)[0] if isinstance(part, (ast.Name, ast.Attribute)) else UNKNOWN
        wanted += value.items if isinstance(value, TupleOf) else [value]
    current = state.frame.locals.get(name.id)
    if current is None:
        return
    names = {value.name for value in wanted if isinstance(value, External)}
    narrowed = _instances_of(current, wanted, names) if truth else _none_of(current, names)
    if narrowed is not None:
        state.frame.locals[name.id] = narrowed


def _instances_of(current: Value, wanted: list[Value], names: set[str]) -> Value | None:
    """The value where the test holds; None where a class is unknown."""
    held = [option for option in options_of(current) if _is_sequence(option, names)]
    narrowed: Value = UNKNOWN
    for option in held:  # with what it holds
        narrowed = join(narrowed, option)
    for value in wanted:
        if held and isinstance(value, External) and value.name in _SEQUENCES:
            continue
        made = as_instance(value)
        if made is UNKNOWN and value is UNKNOWN:
            return None
        narrowed = join(narrowed, made)
    return narrowed


def _none_of(current: Value, names: set[str]) -> Value | None:
    """The value where the test does not hold; None where that tells nothing."""
    options = [
        o
        for o in options_of(current)
        if not (isinstance(o, Instance) and isinstance(o.cls, str) and o.cls in names)
        and not _is_sequence(o, names)
    ]
    if not options and any(_is_sequence(o, names) for o in options_of(current)):
        return UNKNOWN  # nobody in view comes this way
    if options and len(options) < len(options_of(current)):
        return options[0] if len(options) == 1 else Union(tuple(options))
    return None


_SEQUENCES = frozenset({"builtins.list", "builtins.tuple", "builtins.dict"})


def _is_sequence(option: Value, names: set[str]) -> bool:
    """A list, tuple or dict, where the class that is asked for is that one."""
    if isinstance(option, TupleOf):
        return "builtins.tuple" in names
    return isinstance(option, ListOf) and f"builtins.{option.kind}" in names & _SEQUENCES


def _rebind(state: Statements, name: ast.Name, change: object) -> None:
    current = state.frame.locals.get(name.id)
    if current is not None:
        state.frame.locals[name.id] = change(current)  # type: ignore[operator]
