"""Packed sequences in compiled code: `packed.data`, `hiddens[0]`, one that comes in or goes out.

How many rows a packed batch has depends on the lengths, so compiled code holds the padded batch and
the lengths in its place. Layers and pad_packed_sequence take those; whoever looks inside sees the
difference.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.lower.function import CompiledFunction
from migrate.resolve.values import External, TupleOf, Value, is_packed, options_of

_RNN = "torch.nn.utils.rnn."
_MAKERS = frozenset({f"{_RNN}PackedSequence", f"{_RNN}pack_sequence", f"{_RNN}unpack_sequence"})
_READERS = (ast.Attribute, ast.Subscript)
_GIVERS = (ast.Return, ast.Assign)


def packed_uses(function: CompiledFunction) -> Iterator[ast.AST]:
    """Every place that looks into a packed sequence, or hands one over to the caller."""
    packed: set[str] = set()
    for node in function.nodes:
        if isinstance(node, ast.Name):
            if is_packed(function.value_of(node)):
                packed.add(node.id)
        elif isinstance(node, _READERS):
            if _holds_packed(function.value_of(node.value)):
                yield node
        elif isinstance(node, ast.Call):
            called = function.value_of(node.func)
            if isinstance(called, External) and called.name in _MAKERS:
                yield node
        elif isinstance(node, _GIVERS) and _goes_out(node, function):
            yield node
    arguments = function.node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.arg in packed:
            yield argument


def _holds_packed(value: Value) -> bool:
    return any(map(is_packed, options_of(value)))


def _goes_out(node: ast.Return | ast.Assign, function: CompiledFunction) -> bool:
    """`return packed`, `self.kept = packed`, or one taken apart: `data, sizes, _, _ = packed`."""
    if node.value is None:
        return False
    value = function.value_of(node.value)
    inside = isinstance(value, TupleOf) and any(map(_holds_packed, value.items))
    if isinstance(node, ast.Return):
        return inside or _holds_packed(value)
    if not _holds_packed(value):
        return False
    return any(not isinstance(target, ast.Name) for target in node.targets)
