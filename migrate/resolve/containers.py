"""What nn.ModuleList, nn.Sequential and nn.ModuleDict hold: `self.layers[0].weight` is named after
the layer that is there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate.resolve.values import (
    STR,
    UNKNOWN,
    Container,
    Known,
    ListOf,
    TupleOf,
    Value,
    options_of,
)

CONTAINERS = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ModuleDict"})
Evaluate = Callable[[ast.expr], Value]


def fill(container: Container, node: ast.Call, values: list[Value], evaluate: Evaluate) -> None:
    """Put the constructor's arguments in."""
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        container.put(UNKNOWN)
    elif container.cls == "torch.nn.Sequential" and not _is_mapping(node, values):
        for position, value in enumerate(values):
            container.put(value, str(position))
    elif values:
        _put_all(container, node.args[0], values[0], evaluate)
    elif node.keywords:
        _put_all(container, node.keywords[0].value, UNKNOWN, evaluate)


def _is_mapping(node: ast.Call, values: list[Value]) -> bool:
    return len(values) == 1 and (
        isinstance(values[0], ListOf) or isinstance(node.args[0], (ast.Dict, ast.DictComp))
    )


def _put_all(
    container: Container, node: ast.expr, value: Value, evaluate: Evaluate, *, extends: bool = False
) -> None:
    """`[a, b]`, `{"a": a}`, `dict(a=a)`, or what only a type is known of."""
    named = _named(node)
    if named is not None:
        for name, part in named:
            container.put(evaluate(part), name)
    elif isinstance(node, (ast.List, ast.Tuple)) and container.cls == "torch.nn.ModuleList":
        for position, part in enumerate(node.elts):
            known = UNKNOWN if isinstance(part, ast.Starred) else evaluate(part)
            container.put(known, "" if extends else str(position))
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp)):
        container.put(value.item if isinstance(value, ListOf) else UNKNOWN)
    elif not isinstance(value, Known):
        container.put(UNKNOWN)  # a variable's type is not that of everything it may hold


def _named(node: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """Names and values of a dict that is written out."""
    pairs: list[tuple[object, ast.expr]] = []
    if isinstance(node, ast.Dict):
        keys = [getattr(key, "value", None) for key in node.keys]
        pairs = list(zip(keys, node.values, strict=True))
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "dict" and not node.args:
        pairs = [(keyword.arg, keyword.value) for keyword in node.keywords]
    else:
        return None
    named = [(name, part) for name, part in pairs if isinstance(name, str)]
    return named if len(named) == len(pairs) else None


def call_method(
    container: Container, name: str, node: ast.Call, values: list[Value], evaluate: Evaluate
) -> Value | None:
    """Follow what a method puts in; the result of one that gives members out."""
    if name == "append" and values:
        container.put(values[0])
        return container
    if name in ("extend", "update") and node.args:
        _put_all(container, node.args[0], values[0], evaluate, extends=name == "extend")
        return container
    if name in ("add_module", "register_module") and len(values) == 2:
        container.put(values[1], _text(values[0]))
    elif name == "insert" and len(values) == 2:
        container.put(values[1])
    elif name == "values":
        return ListOf(container.item, "iterator")
    elif name == "items":
        return ListOf(TupleOf((STR, container.item)), "iterator")
    elif name == "pop":
        return container.item
    return None


def set_item(owner: Value, key: Value, value: Value) -> None:
    """`self.heads[name] = layer`."""
    for option in options_of(owner):
        if isinstance(option, Container):
            option.put(value, _text(key))


def _text(key: Value) -> str:
    return str(key.value) if isinstance(key, Known) else ""
