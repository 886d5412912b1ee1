"""Bind a call to torch's parameters, and see whether its row refuses what it passes.

The porter decides by the same steps: the forms that the call surely is, in the table's order; the
first that takes the arguments wins, and the reason against the best one is the one to tell.
"""

from __future__ import annotations

import ast

from migrate.resolve.binding import fitting_overloads, has_stars, is_sure
from migrate.resolve.values import UNKNOWN, Value
from migrate.table import Entry, Overload
from migrate.table.signature import Signature

# torch takes numpy's words for the common parameters: x.sum(axis=1, keepdims=True).
_NUMPY_WORDS = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x2": "other"}


def objection(entry: Entry, call: ast.Call, types: dict[ast.AST, Value]) -> tuple[str, str]:
    """(code, reason) why this call does not port by itself; empty when nothing is against it."""
    if has_stars(call):
        return "", ""  # sorted out at run time, by a form that has torch's signature
    words = _words(entry) if call.keywords else {}
    values, keywords = _given(call, types, words)
    fitting = _fitting(entry, call, values, keywords)
    if not fitting:
        return "MS309", "the arguments do not fit any form that torch documents"
    if len(fitting) > 1:
        sure = [form for form in fitting if is_sure(form, values, keywords)]
        if not sure:
            return "MS310", "which of its forms this is depends on a type that is not known here"
        fitting = sure
    reason = _first_refusal(fitting, call, words)
    return ("MS306", reason) if reason else ("", "")


def _first_refusal(fitting: list[Overload], call: ast.Call, words: dict[str, str]) -> str:
    """Why none of the forms takes the arguments; empty if one does."""
    first = ""
    for form in fitting:
        reason = _refusal(form, call, words)
        if not reason or (form.helper and (form.mindspore or form.emit or form.rules)):
            return ""  # a helper beside the direct form takes what that refuses
        first = first or reason
    return first


def _words(entry: Entry) -> dict[str, str]:
    """numpy's words that the API takes for its own, unless it gives them another meaning."""
    names = {name for form in entry.overloads if form.signature for name in form.signature.names}
    return {new: old for new, old in _NUMPY_WORDS.items() if new not in names and old in names}


def _given(
    call: ast.Call, types: dict[ast.AST, Value], words: dict[str, str]
) -> tuple[list[Value], dict[str | None, Value]]:
    """What is known of the arguments, by position and by torch's word."""
    keywords: dict[str | None, Value] = {
        words.get(k.arg or "", k.arg): types.get(k.value, UNKNOWN) for k in call.keywords
    }
    return [types.get(argument, UNKNOWN) for argument in call.args], keywords


def _fitting(
    entry: Entry, call: ast.Call, values: list[Value], keywords: dict[str | None, Value]
) -> list[Overload]:
    return [
        form
        for form in fitting_overloads(entry, values, keywords, call)
        if form.signature is None or _binds(form.signature, len(values), keywords)
    ]


def _binds(signature: Signature, count: int, keywords: dict[str | None, Value]) -> bool:
    positional = signature.positional
    if count > len(positional) and signature.varargs is None:
        return False
    taken = {parameter.name for parameter in positional[:count]}
    for name in keywords:
        if name in taken or (signature.get(name or "") is None and signature.varkwargs is None):
            return False
    given = taken | set(keywords)
    return all(p.name in given for p in signature.parameters if p.required)


def bind(
    signature: Signature, call: ast.Call, words: dict[str, str] | None = None
) -> dict[str, ast.expr]:
    """Arguments by torch's parameter names; what a star hides stays out."""
    bound: dict[str, ast.expr] = {}
    positional = signature.positional
    for index, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            break
        if index < len(positional):
            bound[positional[index].name] = argument
    for keyword in call.keywords:
        if keyword.arg is not None:
            bound[(words or {}).get(keyword.arg, keyword.arg)] = keyword.value
    return bound


def _refusal(form: Overload, call: ast.Call, words: dict[str, str]) -> str:
    """The first argument without a counterpart, as written, and why; empty when all have one."""
    signature = form.signature
    if signature is None or not (form.refuse or form.values):
        return ""
    for name, argument in bind(signature, call, words).items():
        parameter = signature.get(name)
        if parameter is None:
            continue
        if name in form.refuse:
            if parameter.required or not _same(argument, parameter.default):
                return f"{_written(name, argument)}: {form.refuse[name]}"
        elif name in form.values and not any(_same(argument, text) for text in form.values[name]):
            known = ", ".join(form.values[name])
            return f"{_written(name, argument)}: only {known} can be carried over"
    return ""


def _written(name: str, argument: ast.expr) -> str:
    text = ast.unparse(argument)
    return f"{name}={text}" if len(text) <= 30 else f"{name}=…"


def _same(argument: ast.expr, text: str) -> bool:
    """The caller wrote this very value, whatever the quotes and brackets."""
    if (value := constant(argument)) is not ...:
        try:
            other = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return False
        return type(value) is type(other) and value == other
    return ast.unparse(argument) == text


def constant(argument: ast.expr | None) -> object:
    """The Python value of a literal; Ellipsis for everything else."""
    if argument is None:
        return ...
    try:
        return ast.literal_eval(argument)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ...
