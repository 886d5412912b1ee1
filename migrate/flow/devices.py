"""Is this value a device? `x.to(device)` moves x, `x.to(torch.half)` casts it, and `x.to(other)`
does both.

Its type says so: a torch.device, text, the number of a rank. Of a value from out of view its name
is all that there is; what is decided by it, the summary lists as an assumption.
"""

from __future__ import annotations

import ast

from migrate.flow.answer import Verdict, no, unknown, yes
from migrate.resolve.values import INT, STR, UNKNOWN, Instance, Known, Value, options_of
from migrate.syntax.ast_index import all_nodes

_KINDS = ("torch.device", STR.cls, INT.cls)


def is_device(node: ast.expr, kind: Value) -> Verdict:
    """Of an expression, with its type."""
    options = options_of(kind)
    if any(map(_is_device_value, options)):
        return yes()
    if UNKNOWN in options:
        return unknown(f"`{ast.unparse(node)}` is from out of view")
    return no()


def is_called_device(node: ast.expr, kind: Value) -> bool:
    """A device, or a value of unknown type that is called one: `args.device`, `dev`."""
    verdict = is_device(node, kind)
    return verdict.yes or (verdict.unknown and any(map(_names_device, all_nodes(node))))


def _is_device_value(kind: Value) -> bool:
    if isinstance(kind, Known):
        return isinstance(kind.value, (str, int)) and not isinstance(kind.value, bool)
    return isinstance(kind, Instance) and kind.cls in _KINDS


def _names_device(node: ast.AST) -> bool:
    text = getattr(node, "value", "") if isinstance(node, ast.Constant) else ""
    name = getattr(node, "attr", getattr(node, "id", text))
    return isinstance(name, str) and (name == "dev" or "device" in name.lower())
