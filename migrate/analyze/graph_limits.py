"""What Graph mode's compiler rejects inside forward; each entry was tried on MindSpore 2.10.0.

Much of what older guides warn of compiles today and is not reported: isinstance, f-strings,
lambdas, comprehensions, list and dict changes, raise, assert, int(tensor), branches on a tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from migrate.analyze import branches
from migrate.analyze.compiled import Function, compiled_code
from migrate.analyze.model import Sign
from migrate.analyze.places import Placer
from migrate.resolve.modules import ModuleScope
from migrate.resolve.values import UNKNOWN, External, ListOf, Value, is_tensor


class Limit(NamedTuple):
    """One thing that does not compile, or compiles under a condition."""

    code: str
    what: str
    message: str
    step: str
    severity: str = "warning"


# Syntax that the compiler refuses, unless it stands in a branch that an attribute of the network
# rules out when the graph is built (`if self.training:` in a network that does not train).
_SYNTAX: dict[type[ast.AST], tuple[str, str]] = {
    ast.Try: ("try", "test for the condition instead, or move the try to the caller"),
    ast.TryStar: ("try", "test for the condition instead, or move the try to the caller"),
    ast.With: ("with", "open the context around the call of the network"),
    ast.AsyncWith: ("with", "open the context around the call of the network"),
    ast.Delete: ("del", "leave it out: the compiler frees values itself"),
    ast.Nonlocal: ("nonlocal", "return the value from the inner function"),
    ast.ClassDef: ("class definition", "define the class at the top of the module"),
    ast.Import: ("import", "import at the top of the module"),
    ast.ImportFrom: ("import", "import at the top of the module"),
    ast.Yield: ("yield", "return a list"),
    ast.YieldFrom: ("yield", "return a list"),
    ast.NamedExpr: (":= assignment", "assign on a line of its own"),
    ast.Set: ("set display", "use a tuple"),
    ast.SetComp: ("set comprehension", "use a list comprehension"),
    ast.Match: ("match", "use if and elif"),
    ast.AsyncFunctionDef: ("async def", "use a plain function"),
    ast.Await: ("await", "use a plain call"),
    ast.AsyncFor: ("async for", "use a plain loop"),
}

# Methods that change a list or a dict.
_CHANGES = frozenset({"append", "clear", "extend", "insert", "pop", "remove", "sort", "update"})
# Python's own sources of change: compiled code sees what they gave the first time.
_FROZEN = ("random.", "numpy.random.", "time.time", "time.perf_counter", "datetime.datetime.now")


def find(scope: ModuleScope, types: dict[int, Value], placer: Placer) -> Iterator[Sign]:
    """All limits that the file's compiled code meets, each place once."""
    seen: set[int] = set()
    for name, function, nodes in compiled_code(scope, types):
        for node in nodes:
            check = _CHECKS.get(node.__class__)
            if check is None or id(node) in seen:
                continue
            limit = check(node, types, function)
            if limit is not None:
                seen.add(id(node))
                code, what, message, step, severity = limit
                place = placer.at(node, name)
                yield Sign("control flow", what, place, code, message, step, severity, "graph")


def _syntax(node: ast.AST, types: dict[int, Value], function: Function) -> Limit:
    what, step = _SYNTAX[type(node)]
    return Limit("MS402", what, f"Graph mode does not compile {what}", step)


def _loop(node: ast.AST, types: dict[int, Value], function: Function) -> Limit | None:
    if isinstance(node, ast.For | ast.While) and node.orelse:
        what = "for-else" if isinstance(node, ast.For) else "while-else"
        step = "set a flag in the loop and test it afterwards"
        return Limit("MS402", what, f"Graph mode does not compile {what}", step)
    return None


def _call(node: ast.AST, types: dict[int, Value], function: Function) -> Limit | None:
    if not isinstance(node, ast.Call):
        return None
    called = node.func
    value = types.get(id(called), UNKNOWN)
    if isinstance(value, External):
        return _library_call(value.name, node, types)
    if isinstance(called, ast.Attribute) and called.attr == "pop":
        owner = types.get(id(called.value), UNKNOWN)
        if isinstance(owner, ListOf) and owner.kind == "dict":
            message = "pop() on a dict does not compile"
            return Limit("MS406", "dict.pop()", message, "build the dict without the key")
    if isinstance(called, ast.Attribute) and called.attr in _CHANGES:
        return _change(called, types, function)
    return None


def _change(method: ast.Attribute, types: dict[int, Value], function: Function) -> Limit | None:
    """`self.features.append(x)`, or `found.append(x)` of a list that the caller gave: compiled,
    nobody sees it.
    """
    place = method.value
    owner = types.get(id(place), UNKNOWN)
    if not isinstance(owner, ListOf) or owner.kind not in ("list", "dict"):
        return None
    text = ast.unparse(place)
    if _is_assigned(text, function):
        return None  # made here, and seen here
    what = f"{text}.{method.attr}()"
    given = [argument.arg for argument in function.args.args[1:]]
    if isinstance(place, ast.Attribute) and text.startswith("self."):
        message = f"{what} is lost: a graph does not change what the network keeps"
        return Limit("MS406", what, message, "collect it in a variable and return it")
    if isinstance(place, ast.Name) and place.id in given:
        message = f"{what} is lost: a graph does not change what it was given"
        return Limit("MS406", what, message, "return it, and let the caller take the result")
    return None


def _is_assigned(place: str, function: Function) -> bool:
    return any(
        ast.unparse(target) == place
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
    )


def _library_call(name: str, node: ast.Call, types: dict[int, Value]) -> Limit | None:
    if name == "builtins.range":
        # The number of rounds must be known when the graph is built.
        if any(is_tensor(types.get(id(argument), UNKNOWN)) for argument in node.args):
            message = "range() over a tensor does not compile"
            return Limit("MS401", "range(tensor)", message, "use range(int(n)), or while")
    elif name == "collections.defaultdict":
        message = "a defaultdict does not compile as one: missing keys raise"
        return Limit("MS406", "defaultdict", message, "use a dict, and set each key first")
    elif name.startswith(_FROZEN):
        what = f"{name}()"
        message = f"{what} runs once, when the graph is built; every later call gets that value"
        return Limit("MS407", what, message, "use ops.rand, or pass the value in as an argument")
    return None


def _branch(node: ast.AST, types: dict[int, Value], function: Function) -> Limit | None:
    if limit := _loop(node, types, function):
        return limit
    if not isinstance(node, ast.If | ast.While) or not branches.on_tensor(node.test, types):
        return None
    what = f"{'if' if isinstance(node, ast.If) else 'while'} on a tensor"
    if reason := branches.mismatch(node, types, function):
        return Limit("MS401", what, f"{what}: {reason}", "make both sides alike, or use ops.where")
    return Limit("MS401", what, f"{what} compiles", "", "note")


_Check = Callable[[ast.AST, dict[int, Value], Function], Limit | None]
_CHECKS: dict[type[ast.AST], _Check] = {
    **dict.fromkeys(_SYNTAX, _syntax),
    ast.For: _loop,
    ast.Call: _call,
    ast.If: _branch,
    ast.While: _branch,
}
