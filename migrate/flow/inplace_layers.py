"""Which layers does a program build to work in place, wherever that is? Where a layer cannot be
traced to the call that built it, its class alone decides whether it may be such a one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.syntax.ast_index import nodes_of

ANY = "*"  # of a class that is not named: `act(inplace=True)`, `dict(type="ReLU", inplace=True)`
# Layers of torch.nn with an argument `inplace`, and its place among them.
_PLACES = {
    **dict.fromkeys(("ReLU", "ReLU6", "SELU", "SiLU", "Mish", "Hardswish", "Hardsigmoid"), 0),
    **dict.fromkeys(("ELU", "CELU", "LeakyReLU", "Dropout", "Dropout1d", "Dropout2d"), 1),
    **dict.fromkeys(("Dropout3d", "AlphaDropout", "FeatureAlphaDropout"), 1),
    **dict.fromkeys(("Hardtanh", "RReLU", "Threshold"), 2),
}
CLASSES = frozenset(_PLACES)


def built_in_place(tree: ast.Module) -> set[str]:
    """The classes of layers that the file builds with `inplace`, true or not known, and the
    attributes that such a layer is put into from outside: `.act` of `net.act = nn.ReLU(True)`.
    """
    found = set()
    for node in nodes_of(tree, ast.Call, ast.Dict):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            if any(k is not None and _is_name(k) and not _is_false(v) for k, v in pairs):
                found.add(ANY)
        elif name := _in_place(node):
            found.add(name)
    if found:
        found |= {f".{name}" for name in _set_from_outside(tree)}
    return found


def _in_place(call: ast.Call) -> str:
    """The class of a layer that is built so; empty for another call."""
    name = _last(call.func)
    given = next((k.value for k in call.keywords if k.arg == "inplace"), None)
    place = _PLACES.get(name)
    if given is None and place is not None and place < len(call.args):
        given = call.args[place]
    if given is None or _is_false(given):
        return ""
    inner = _last(call.args[0]) if name == "partial" and call.args else name
    return inner if inner in _PLACES else ANY


def _set_from_outside(tree: ast.Module) -> Iterator[str]:
    for assign in nodes_of(tree, ast.Assign):
        if isinstance(assign.value, ast.Call) and _in_place(assign.value):
            yield from (t.attr for t in assign.targets if isinstance(t, ast.Attribute))
    for call in nodes_of(tree, ast.Call):
        if _last(call.func) == "setattr" and len(call.args) == 3:
            _, name, value = call.args
            if isinstance(value, ast.Call) and _in_place(value) and isinstance(name, ast.Constant):
                yield str(name.value)


def _is_name(key: ast.expr) -> bool:
    return isinstance(key, ast.Constant) and key.value == "inplace"


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in (False, None)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
