"""Questions about a layer's class whose answer is only known when the program runs.

`LAYERS = (nn.Conv2d, nn.Linear)`, then `isinstance(m, LAYERS)`, `type(m) in LAYERS` or
`COST[type(m)]`: a class that is passed on is the one with torch's arguments, a layer that was built
in place is MindSpore's own. The helper functions know that the two are one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.pipeline.context import Context
from migrate.resolve.hierarchy import is_module
from migrate.resolve.types import is_library_layer
from migrate.resolve.values import (
    UNKNOWN,
    External,
    ListOf,
    TupleOf,
    Value,
    options_of,
)
from migrate.syntax.access import is_read
from migrate.syntax.ast_index import all_nodes, nodes_of

_QUESTIONS = {"builtins.isinstance": "is_instance", "builtins.issubclass": "is_subclass"}
_EQUALITIES = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.In, ast.NotIn)


def class_check_helper(call: ast.Call, context: Context) -> str:
    """The helper that answers an isinstance or issubclass; empty where Python's own answer is
    right.
    """
    function = context.type(call.func)
    helper = _QUESTIONS.get(function.name, "") if isinstance(function, External) else ""
    if not helper or len(call.args) != 2 or call.keywords:
        return ""
    subject = context.type(call.args[0])
    for part in _parts(call.args[1]):
        if isinstance(part, (ast.Name, ast.Attribute)):
            if context.usage(part) is not None:  # torch's class itself: it has a row
                continue
            value = context.type(part)
            if _holds_layers(value) or (value is UNKNOWN and is_library_layer(subject)):
                return helper
        elif any(context.usage(node) is not None for node in all_nodes(part)):
            return helper  # LAYERS + (nn.Linear,)
        elif isinstance(part, (ast.Call, ast.BinOp, ast.Subscript, ast.Starred)):
            held = [context.type(node) for node in all_nodes(part)]
            if is_library_layer(subject) or any(map(_holds_layers, held)):
                return helper  # tuple(LAYERS)
    return ""


def classes_to_ask_for(tree: ast.Module, context: Context) -> set[ast.AST]:
    """The `type(m)` and `m.__class__` that stand for the class with torch's arguments."""
    if not any("type(" in line or "__class__" in line for line in context.lines):
        return set()
    found: set[ast.AST] = set()
    answered: set[ast.AST] = set()  # by a test that names every class
    for node in nodes_of(tree, ast.Compare, ast.Attribute, ast.Call):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], _EQUALITIES):
            right = node.comparators[0]
            if any(context.usage(part) is not None for part in _parts(right)):
                answered.add(node.left)
            elif _subject(node.left, context) is not None and _holds_layers(context.type(right)):
                found.add(node.left)
        elif isinstance(node, ast.Attribute) and node.attr.startswith("__"):
            answered.add(node.value)  # type(m).__name__
        subject = _subject(node, context)
        if subject is not None and is_library_layer(context.type(subject)):
            found.add(node)
    return found - answered


def _subject(node: ast.AST, context: Context) -> ast.expr | None:
    """The `m` of `type(m)` or `m.__class__`."""
    if isinstance(node, ast.Attribute) and node.attr == "__class__":
        return node.value if is_read(node) else None
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        function = context.type(node.func)
        if isinstance(function, External) and function.name == "builtins.type":
            return node.args[0]
    return None


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        for element in node.elts:
            yield from _parts(element)
    else:
        yield node


def _is_layer_class(name: str) -> bool:
    return is_module(name) and name.rpartition(".")[2][:1].isupper()


def _holds_layers(value: Value) -> bool:
    """A class of torch's layers, or a collection with one."""
    for option in options_of(value):
        if isinstance(option, TupleOf) and any(map(_holds_layers, option.items)):
            return True
        if isinstance(option, ListOf) and _holds_layers(option.item):
            return True
        if isinstance(option, External) and _is_layer_class(option.name):
            return True
    return False
