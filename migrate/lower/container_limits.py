"""Python's own functions and displays that Graph mode compiles to something else, or not at all.

A comprehension over `sorted(parts)` gives its first item only, `next(iter(parts))` gives a tuple of
the first and the rest: both without a word. A dict is no sequence of its keys to zip() and max().
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.lower.function import CompiledFunction
from migrate.resolve.values import External, ListOf, Method, ProjectFunction, is_tensor, options_of
from migrate.syntax.access import name_of

Found = tuple[str, str] | None
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_WRAPPERS = frozenset({"list", "tuple", "reversed", "enumerate", "zip", "iter"})
_KEYED = frozenset({"max", "min", "sorted"})
_OF_KEYS = frozenset({"zip", "max", "min"})


def of_call(node: ast.Call, function: CompiledFunction) -> Found:
    name = builtin_name(node, function)
    if name == "next":
        return "next", "next()"
    if name in _OF_KEYS and any(_is_dict(argument, function) for argument in node.args):
        return "dict-as-keys", f"{name}() of a dict"
    if name in _KEYED and any(keyword.arg in ("key", "default") for keyword in node.keywords):
        constant = name == "sorted" and _is_constant(node.args[0])
        return None if constant else ("keyed-builtin", f"{name}() with a key or a default")
    for option in options_of(function.value_of(node.func)):
        called = option.function if isinstance(option, Method) else option
        if isinstance(called, ProjectFunction) and _is_class_method(called.node):
            name = called.qualified.rpartition(".")[2]
            return "class-method", f"{name}(), a class method,"
    return None


def of_comprehension(node: ast.AST, function: CompiledFunction) -> Found:
    assert isinstance(node, COMPREHENSIONS)
    if len(node.generators) > 1:
        return "double-comprehension", "comprehension over two loops"
    if any(_is_sorted(one, function) for one in _sources(node.generators[0].iter, function)):
        return "comprehension-over-sorted", "sorted()"
    return None


def of_dict(node: ast.AST, function: CompiledFunction) -> Found:
    assert isinstance(node, ast.Dict)
    return ("dict-merge", "{**parts}") if None in node.keys else None


def of_operator(node: ast.AST, function: CompiledFunction) -> Found:
    assert isinstance(node, ast.BinOp)
    if isinstance(node.op, ast.BitOr) and _is_dict(node.left, function):
        return "dict-merge", "parts | others"
    return None


def of_assignment(node: ast.AST, function: CompiledFunction) -> Found:
    assert isinstance(node, ast.Assign)
    several = isinstance(node.targets[0], (ast.Tuple, ast.List))
    if several and _is_dict(node.value, function):
        return "dict-as-keys", "unpacking of a dict"
    return None


def builtin_name(call: ast.AST, function: CompiledFunction) -> str:
    """`sorted` of `sorted(x)`; empty for what is no call of a function of Python's own."""
    if not isinstance(call, ast.Call):
        return ""
    value = function.value_of(call.func)
    if isinstance(value, External):
        return value.name.removeprefix("builtins.") if value.name.startswith("builtins.") else ""
    return ""


def _is_class_method(node: ast.AST) -> bool:
    return any(
        name_of(decorator) == "classmethod" for decorator in getattr(node, "decorator_list", ())
    )


def _is_dict(node: ast.AST, function: CompiledFunction) -> bool:
    options = options_of(function.value_of(node))
    return any(isinstance(option, ListOf) and option.kind == "dict" for option in options)


def _is_constant(node: ast.expr) -> bool:
    """What is known when the graph is built: constants, and attributes of the network."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(_is_constant(item) for item in node.elts)
    while isinstance(node, ast.Attribute):
        if name_of(node.value) == "self":
            return True
        node = node.value
    return isinstance(node, ast.Constant)


def _is_sorted(node: ast.expr, function: CompiledFunction) -> bool:
    if builtin_name(node, function) != "sorted":
        return False
    assert isinstance(node, ast.Call)
    given = node.args[0] if node.args else node
    return not _is_constant(given) or is_tensor(function.value_of(given))


def _sources(node: ast.expr, function: CompiledFunction) -> Iterator[ast.expr]:
    """What is gone through in the end: behind list(), enumerate() and names."""
    waiting, seen = [node], set[str]()
    while waiting:
        one = waiting.pop()
        yield one
        if isinstance(one, ast.Call) and getattr(one.func, "id", "") in _WRAPPERS:
            waiting += one.args
        elif isinstance(one, ast.Subscript):
            waiting.append(one.value)
        elif isinstance(one, ast.Name) and one.id not in seen:
            seen.add(one.id)
            waiting += [
                assigned.value
                for assigned in function.of_kind(ast.Assign)
                if any(name_of(t) == one.id for t in assigned.targets)
            ]
