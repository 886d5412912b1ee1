"""torch.nn.functional.pad: negative amounts, nothing at all, and every mode for every rank."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_constant_pad import constant_pad


def pad(input, pad, mode="constant", value=None):
    """torch's pad; amounts come in pairs, from the last axis on, and may take elements away."""
    amounts = ()
    for place in range(input.ndim):
        given = 2 * place < len(pad)
        amounts = ((pad[2 * place], pad[2 * place + 1]) if given else (0, 0), *amounts)
    shape = ()
    for axis in range(input.ndim):
        shape += (input.shape[axis] + amounts[axis][0] + amounts[axis][1],)
    if mode == "constant":
        return _pad_with_value(input, amounts, shape, 0 if value is None else value)
    if input.size == 0:
        return ops.zeros(shape, input.dtype)
    for axis in range(input.ndim):
        if amounts[axis] != (0, 0):
            places = _pad_places(input.shape[axis], amounts[axis], mode)
            input = ops.gather(input, mindspore.Tensor(places, mindspore.int32), axis)
    return input


def _pad_places(size, amounts, mode):
    """Where each element along an axis comes from."""
    wanted = range(-amounts[0], size + amounts[1])
    if mode == "circular":  # torch takes away first, then goes round what is left
        first, last = max(-amounts[0], 0), size + min(amounts[1], 0)
        return [first + (place - first) % (last - first) for place in wanted]
    if mode == "replicate":
        return [min(max(place, 0), size - 1) for place in wanted]
    return [abs(place) if place < size else 2 * size - 2 - place for place in wanted]


def _pad_with_value(input, amounts, shape, value):
    """Constant padding; what is taken away goes first, since MindSpore pads no empty tensor."""
    wide = ()
    for axis in range(input.ndim):
        before, after = amounts[axis]
        first, last = max(-before, 0), input.shape[axis] + min(after, 0)
        if input.size > 0 and (before < 0 or after < 0):
            input = input[(slice(None),) * axis + (slice(first, last),)] if last > first else input
        if last <= first:
            return ops.full(shape, value, dtype=input.dtype)
        wide = (max(before, 0), max(after, 0), *wide)
    if sum(wide) == 0 or 0 in shape:
        return input if 0 not in shape else ops.zeros(shape, input.dtype)
    if input.dtype == mindspore.bool_:
        return constant_pad(input.astype(mindspore.int32), wide, int(value)) != 0
    return constant_pad(input, wide, value)
