"""The arguments of a call by torch's parameters, on the stdlib tree."""

from __future__ import annotations

import ast

from migrate.table import Table

_UNKNOWN = object()


def bound_arguments(call: ast.Call, api: str, table: Table) -> dict[str, ast.expr] | None:
    """By name, of the first form in the table that takes them; None where stars hide some."""
    entry = table.get(api)
    if entry is None or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    for overload in entry.overloads:
        signature = overload.signature
        if signature is None or len(call.args) > len(signature.positional):
            continue
        found = {p.name: a for p, a in zip(signature.positional, call.args, strict=False)}
        for keyword in call.keywords:
            if keyword.arg is None:
                return None
            found[keyword.arg] = keyword.value
        if set(found) <= set(signature.names):
            return found
    return None


def literal_of(node: ast.expr) -> object:
    """The value of a literal; for anything else an object that equals nothing."""
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return _UNKNOWN
    return value


def is_default(node: ast.expr | None) -> bool:
    """Not given, or given as None, 0 or False, which ask for nothing."""
    return node is None or literal_of(node) in (None, 0, False)
