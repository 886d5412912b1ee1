"""Bind a call to torch's parameters, and see whether the row refuses what it passes."""

from __future__ import annotations

import ast

from migrate.resolve.binding import certain, fitting_overloads
from migrate.resolve.values import UNKNOWN, Value
from migrate.table import Entry, Overload
from migrate.table.signature import Signature


def choose(entry: Entry, call: ast.Call, types: dict[int, Value]) -> list[Overload]:
    """The forms of the API that this call can be: one, unless a type decides that is not known."""
    if len(entry.overloads) == 1:
        return list(entry.overloads)
    values = [types.get(id(argument), UNKNOWN) for argument in call.args]
    keywords = {k.arg: types.get(id(k.value), UNKNOWN) for k in call.keywords}
    fitting = fitting_overloads(entry, values, keywords, call)
    if len(fitting) < 2:
        return fitting
    sure = [overload for overload in fitting if _is_sure(overload, call, types)]
    return sure[:1] or fitting


def _is_sure(overload: Overload, call: ast.Call, types: dict[int, Value]) -> bool:
    signature = overload.signature
    if signature is None:
        return True
    for name, argument in bind(signature, call).items():
        parameter = signature.get(name)
        if parameter is not None and not certain(parameter, types.get(id(argument), UNKNOWN)):
            return False
    return True


def bind(signature: Signature, call: ast.Call) -> dict[str, ast.expr]:
    """Arguments by torch's parameter names; what a star hides stays out."""
    bound: dict[str, ast.expr] = {}
    positional = signature.positional
    for index, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            break
        if index < len(positional):
            bound[positional[index].name] = argument
        elif signature.varargs is not None:
            bound.setdefault(signature.varargs.name, argument)
    for keyword in call.keywords:
        if keyword.arg is not None:
            bound[keyword.arg] = keyword.value
    return bound


def refusal(overload: Overload, call: ast.Call) -> tuple[str, str]:
    """(argument as written, why it has no counterpart) of the first one refused; else empty."""
    signature = overload.signature
    if signature is None:
        return "", ""
    for name, argument in bind(signature, call).items():
        parameter = signature.get(name)
        if parameter is None:
            if signature.varkwargs is None:
                return f"{name}=", "torch's documentation has no such parameter"
        elif name in overload.refuse:
            if parameter.required or not _same(argument, parameter.default):
                return _written(name, argument), overload.refuse[name]
        elif name in overload.values and not parameter.required:
            known = overload.values[name]
            if _source(argument) not in known and not _same(argument, parameter.default):
                return _written(name, argument), "only " + ", ".join(known) + " can be carried over"
    return "", ""


def _written(name: str, argument: ast.expr) -> str:
    text = _source(argument)
    return f"{name}={text}" if len(text) <= 30 else f"{name}=…"


def _source(argument: ast.expr) -> str:
    return ast.unparse(argument)


def _same(argument: ast.expr, default: str) -> bool:
    """The caller spelled out torch's default."""
    return _source(argument) == default


def constant(argument: ast.expr | None) -> object:
    """The Python value of a literal; Ellipsis for everything else."""
    if argument is None:
        return ...
    try:
        return ast.literal_eval(argument)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ...
