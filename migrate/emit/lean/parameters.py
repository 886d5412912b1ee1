"""Which parameters of a helper nobody gives: each has its default, always."""

from __future__ import annotations

import ast
from collections.abc import Collection
from functools import cache

from migrate.emit.lean.callers import Callers, base_of, calls_of_base
from migrate.syntax.access import attribute_of, is_read, name_of

# What a default may be, to stand wherever its parameter is read.
_LITERALS = (bool, int, float, str, type(None))


def constructor(node: ast.AST) -> ast.FunctionDef | None:
    """What is called: the function itself, or a class's __init__."""
    if isinstance(node, ast.FunctionDef):
        return node
    if not isinstance(node, ast.ClassDef):
        return None
    methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    return None if "__new__" in methods else methods.get("__init__")


def constant_result(node: ast.AST) -> ast.Constant | None:
    """What a function returns that does nothing else: `return False`."""
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return None
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    result = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    is_literal = isinstance(result, ast.Constant) and isinstance(result.value, _LITERALS)
    return result if is_literal else None  # type: ignore[return-value]


def flag_of(node: ast.AST) -> bool | None:
    """What a variable of the module is that is True or False: `_DOUBLES = False`."""
    value = node.value if isinstance(node, ast.Assign) else None
    flag = value.value if isinstance(value, ast.Constant) else None
    return flag if isinstance(flag, bool) else None


def defaults(function: ast.FunctionDef) -> dict[str, ast.Constant]:
    """Parameters with a literal default."""
    given = function.args
    places = [*given.posonlyargs, *given.args]
    late = places[len(places) - len(given.defaults) :]
    pairs = [*zip(late, given.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d]
    return {
        argument.arg: default
        for argument, default in pairs
        if isinstance(default, ast.Constant) and isinstance(default.value, _LITERALS)
    }


def positions(function: ast.FunctionDef, *, bound: bool) -> list[str]:
    """Parameters by position, without the receiver of a method."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if bound else names


def never_given(
    name: str, node: ast.AST, callers: Callers, derived: Collection[ast.ClassDef]
) -> set[str]:
    """Parameters of a piece that no call gives, where all its calls are known. In itself, a
    function may hand on what it has. Classes that are `derived` of it call its constructor.
    """
    function = constructor(node)
    if function is None or name in callers.values:
        return set()
    if function.decorator_list or not all(_calls_base(one, name) for one in derived):
        return set()
    if isinstance(node, ast.ClassDef) and _makes_its_like(node):
        return set()
    free = set(defaults(function)) - _kept_back(function)
    places = positions(function, bound=function is not node)
    inside = set(ast.walk(function)) if free else set()
    for call in callers.calls.get(name, ()) if free else ():
        free -= _given(call, places, free, handed_on=free if call in inside else set())
    return free


def _calls_base(node: ast.ClassDef, base: str) -> bool:
    """Whether a class has a constructor of its own, which calls that of its only base."""
    return base_of(node) == base and constructor(node) is not None and bool(calls_of_base(node))


def always_the_same(name: str, node: ast.AST, callers: Callers) -> dict[str, object]:
    """Parameters of a function between pieces alone, to which every call gives one constant."""
    if not isinstance(node, ast.FunctionDef) or not name.startswith("_") or node.decorator_list:
        return {}
    calls = callers.calls.get(name, ())
    if name in callers.values or not calls or node.args.vararg or node.args.kwarg:
        return {}
    if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node)):
        return {}
    places = positions(node, bound=False)
    first, *others = [_constants_given(call, places) for call in calls]
    kept = _kept_back(node)
    return {
        place: value
        for place, value in first.items()
        if place not in kept and all(_has(other, place, value) for other in others)
    }


def _constants_given(call: ast.Call, places: list[str]) -> dict[str, object]:
    """The constants that a call gives, by parameter; none where stars may give others."""
    given = dict(zip(places, call.args, strict=False))
    given |= {keyword.arg or "": keyword.value for keyword in call.keywords}
    if "" in given or any(isinstance(one, ast.Starred) for one in call.args):
        return {}
    return {
        place: value.value
        for place, value in given.items()
        if place in places
        and isinstance(value, ast.Constant)
        and isinstance(value.value, _LITERALS)
    }


def _has(given: dict[str, object], place: str, value: object) -> bool:
    return place in given and type(given[place]) is type(value) and given[place] == value


def _given(call: ast.Call, places: list[str], free: set[str], handed_on: set[str]) -> set[str]:
    found: set[str] = set()
    for place, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            return free
        if place < len(places) and not _is(argument, places[place], handed_on):
            found.add(places[place])
    for keyword in call.keywords:
        if keyword.arg is None:
            return free
        if not _is(keyword.value, keyword.arg, handed_on):
            found.add(keyword.arg)
    return found


def _is(argument: ast.expr, parameter: str, handed_on: set[str]) -> bool:
    return name_of(argument) == parameter and parameter in handed_on


def _makes_its_like(node: ast.ClassDef) -> bool:
    """`type(self)(...)`, `cls(...)`: constructor calls without the class's name."""
    return any(
        isinstance(part, ast.Call)
        and (
            isinstance(part.func, ast.Call)
            or name_of(part.func) == "cls"
            or attribute_of(part.func) == "__class__"
        )
        for part in ast.walk(node)
    )


@cache
def _kept_back(function: ast.FunctionDef) -> set[str]:
    """Parameters that are set again, or whose name means something else somewhere inside."""
    kept: set[str] = set()
    for node in ast.walk(function):
        if name_of(node) == "locals":
            return set(defaults(function))
        if isinstance(node, ast.Name) and not is_read(node):
            kept.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not function:
            inner = node.args
            kept.add(getattr(node, "name", ""))
            kept |= {a.arg for a in (*inner.posonlyargs, *inner.args, *inner.kwonlyargs)}
            kept |= {a.arg for a in (inner.vararg, inner.kwarg) if a}
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            kept |= set(node.names)
        elif isinstance(node, (ast.ExceptHandler, ast.ClassDef)):
            kept.add(node.name or "")
        elif isinstance(node, ast.alias):
            kept.add(node.asname or node.name)
    return kept
