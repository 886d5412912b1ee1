"""Which attributes of a network's class may hold parameters, by how they are set."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from migrate.flow.whole_use import own_attribute
from migrate.syntax.access import name_of
from migrate.syntax.ast_index import all_nodes

_WITHOUT_PARAMETERS = frozenset(
    """
    ReLU LeakyReLU GELU SiLU Sigmoid Tanh Softmax LogSoftmax ELU Hardswish Hardsigmoid Mish ReLU6
    Softplus Identity Flatten Unflatten Dropout Dropout2d MaxPool1d MaxPool2d AvgPool1d AvgPool2d
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveMaxPool2d ZeroPad2d Upsample PixelShuffle
    """.split()  # noqa: SIM905 - a list would take a line for each name
)
_TAKE_NUMBERS = ("Conv", "Linear", "BatchNorm", "LayerNorm", "GroupNorm", "Embedding", "Dropout")
_PLAIN_CALLS = ("int", "float", "bool", "str", "len", "tuple", "range", "max", "min", "round")
_PLAIN_NOTES = ("int", "float", "bool", "str")


def parameter_attributes(methods: Mapping[str, ast.FunctionDef]) -> set[str]:
    """Attributes that the constructor, or what it calls, sets to something that may hold some."""
    found: set[str] = set()
    pending, seen = ["__init__"], set[str]()
    while pending:
        name = pending.pop()
        method = methods.get(name)
        if method is None or name in seen:
            continue
        seen.add(name)
        for node in all_nodes(method):
            if isinstance(node, ast.Call):
                pending.append(own_attribute(node.func))
            for target, value in _assigned(node):
                if _may_hold(value, method, methods):
                    found.add(target)
    return found


def _assigned(node: ast.AST) -> Iterable[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else []
            paired = values if len(values) == len(parts) > 1 else [node.value] * len(parts)
            for part, value in zip(parts, paired, strict=True):
                if own_attribute(part):
                    yield own_attribute(part), value


def _may_hold(
    value: ast.expr, method: ast.FunctionDef, methods: Mapping[str, ast.FunctionDef]
) -> bool:
    """Whether an attribute of this value may hold parameters of the network."""
    if isinstance(value, ast.IfExp):
        sides = (value.body, value.orelse)
        return not any(map(_is_class, sides)) and any(_may_hold(s, method, methods) for s in sides)
    if isinstance(value, ast.Name):
        return not _is_plain(value.id, method, methods)
    if isinstance(value, ast.Call):
        called = value.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if isinstance(called, ast.Name):
            return name not in _PLAIN_CALLS
        root = called.value if isinstance(called, ast.Attribute) else None
        return not (getattr(root, "id", "") == "nn" and name in _WITHOUT_PARAMETERS)
    kinds = (ast.Constant, ast.Compare, ast.JoinedStr, ast.UnaryOp, ast.BinOp)
    return not (isinstance(value, kinds) or _is_class(value))


def _is_class(value: ast.expr) -> bool:
    """`nn.BatchNorm2d`, not called."""
    return isinstance(value, ast.Attribute) and getattr(value.value, "id", "") == "nn"


def _is_plain(name: str, method: ast.FunctionDef, methods: Mapping[str, ast.FunctionDef]) -> bool:
    """A number or a text: by its annotation or default, because something is computed with it, or
    because a layer takes it that takes no other layers.
    """
    if _is_declared_plain(name, method.args) or _is_computed_with(name, method):
        return True
    values = [
        node.value
        for node in all_nodes(method)
        if isinstance(node, ast.Assign) and any(name_of(t) == name for t in node.targets)
    ]
    known = name not in {one.arg for one in all_nodes(method.args) if isinstance(one, ast.arg)}
    return known and bool(values) and not any(_may_hold(v, method, methods) for v in values)


def _is_computed_with(name: str, method: ast.FunctionDef) -> bool:
    """`2 * width`, `width > 8`, `nn.Linear(4, width)`"""

    def named(values: Iterable[ast.expr]) -> bool:
        return any(name_of(one) == name for one in values)

    numbers = False
    for node in all_nodes(method):
        if isinstance(node, ast.BinOp):
            numbers |= named([node.left, node.right])
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            numbers |= named(sides) and all(getattr(s, "value", 0) is not None for s in sides)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "").startswith(_TAKE_NUMBERS):
            numbers |= named(node.args)
    return numbers


def _is_declared_plain(name: str, given: ast.arguments) -> bool:
    places = [*given.posonlyargs, *given.args]
    late = places[len(places) - len(given.defaults) :]
    known = [*zip(late, given.defaults, strict=True)]
    known += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d]
    for argument in (*places, *given.kwonlyargs):
        if argument.arg == name and getattr(argument.annotation, "id", "") in _PLAIN_NOTES:
            return True
    return any(
        argument.arg == name
        and isinstance(default, ast.Constant)
        and isinstance(default.value, bool | int | float | str)
        for argument, default in known
    )
