"""Sizes of windows and edges: torch takes lists for them, MindSpore only tuples, and a plain number
where there is one axis. Sizes of layers: torch takes numpy's integers, MindSpore only Python's.
"""

from __future__ import annotations

import libcst as cst

from migrate.resolve.numpy_results import is_numpy
from migrate.resolve.values import Instance, ListOf, TupleOf, options_of
from migrate.rewrite.calls.call import Call, Refusal, Slot
from migrate.syntax.nodes import as_tuple, literal

_SIZES = ("kernel_size", "stride", "padding", "output_padding", "dilation", "output_size")
_COUNTS = (
    *("in_features", "out_features", "in_channels", "out_channels", "num_features", "groups"),
    *("num_embeddings", "embedding_dim", "num_channels", "num_groups", "input_size"),
    *("hidden_size", "num_layers", "embed_dim", "num_heads", "d_model", "nhead", "kernel_size"),
)


def settle_sizes(call: Call) -> None:
    """Give every size the form that MindSpore takes, or leave it to the helper that asks at run
    time.
    """
    if call.entry.kind == "class":
        for name in _COUNTS:
            if name in call.slots:
                _settle_count(call.slots[name])
    if not (call.target or call.emit or call.overload.rules):
        return  # the helper is the only form, and takes them all
    one_axis = call.entry.torch.endswith("1d")
    for name in _SIZES:
        if name in call.slots:
            slot = call.slots[name]
            _settle_number(call, slot) if one_axis else _settle_tuple(call, slot)


def _settle_count(slot: Slot) -> None:
    """`nn.Linear(np.prod(shape), 64)`"""
    kinds = options_of(slot.type)
    if any(isinstance(kind, Instance) and is_numpy(kind.cls) for kind in kinds):
        bare = slot.value.with_changes(lpar=[], rpar=[])
        _put(slot, cst.Call(func=cst.Name("int"), args=[cst.Arg(bare)]))


def _settle_tuple(call: Call, slot: Slot) -> None:
    if isinstance(slot.value, cst.List):
        _put(slot, as_tuple(slot.value))
        return
    lists = [isinstance(kind, ListOf) and kind.kind == "list" for kind in options_of(slot.type)]
    if all(lists):
        _put(slot, cst.Call(func=cst.Name("tuple"), args=[cst.Arg(slot.value)]))
    elif any(lists) and call.helper:
        raise Refusal(f"{slot.name} may be a list", "pass a tuple")


def _settle_number(call: Call, slot: Slot) -> None:
    if isinstance(slot.value, (cst.List, cst.Tuple)) and len(slot.value.elements) == 1:
        _put(slot, slot.value.elements[0].value)
        return
    several = any(isinstance(kind, (ListOf, TupleOf)) for kind in options_of(slot.type))
    if several and literal(slot.value) is None and call.helper:
        raise Refusal(f"{slot.name} may be a tuple", "pass a number")


def _put(slot: Slot, value: cst.BaseExpression) -> None:
    slot.value = value
    if slot.source is not None:
        slot.source = slot.source.with_changes(value=value)


def with_constant_sizes(call: Call, arguments: list[cst.Arg]) -> list[cst.Arg]:
    """Sizes in written lists as tuples: a graph takes the numbers of a list for variables."""
    if call.entry.kind == "class" or call.signature is None:
        return arguments
    names = [parameter.name for parameter in call.signature.positional]
    changed = []
    for position, argument in enumerate(arguments):
        if argument.star:
            return arguments
        place = names[position] if position < len(names) else ""
        name = argument.keyword.value if argument.keyword is not None else place
        if name in _SIZES and isinstance(argument.value, cst.List):
            argument = argument.with_changes(value=as_tuple(argument.value))
        changed.append(argument)
    return changed
