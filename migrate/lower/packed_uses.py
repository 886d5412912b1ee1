"""Packed sequences in compiled code: `packed.data`, `hiddens[0]`, one that comes in or goes out.

How many rows a packed batch has depends on the lengths, so compiled code holds the padded batch and
the lengths in its place. Layers and pad_packed_sequence take those; whoever looks inside sees the
difference.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrate.lower.function import CompiledFunction
from migrate.resolve.values import External, TupleOf, Union, Value, is_packed, options_of

_RNN = "torch.nn.utils.rnn."
_MAKERS = frozenset({f"{_RNN}PackedSequence", f"{_RNN}pack_sequence", f"{_RNN}unpack_sequence"})
_READERS: tuple[type[ast.Attribute] | type[ast.Subscript], ...] = (ast.Attribute, ast.Subscript)
_GIVERS: tuple[type[ast.Return] | type[ast.Assign], ...] = (ast.Return, ast.Assign)


def packed_uses(function: CompiledFunction) -> Iterator[ast.AST]:
    """Every place that looks into a packed sequence, or hands one over to the caller."""
    value_of = function.value_of
    for kind in _READERS:
        for node in function.of_kind(kind):
            if _holds_packed(value_of(node.value)):
                yield node
    for call in function.of_kind(ast.Call):
        called = value_of(call.func)
        if isinstance(called, External) and called.name in _MAKERS:
            yield call
    for giver in _GIVERS:
        for statement in function.of_kind(giver):
            if _goes_out(statement, function):
                yield statement
    packed = {name.id for name in function.of_kind(ast.Name) if is_packed(value_of(name))}
    arguments = function.node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.arg in packed:
            yield argument


def _holds_packed(value: Value) -> bool:
    if value.__class__ is not Union:
        return is_packed(value)
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
