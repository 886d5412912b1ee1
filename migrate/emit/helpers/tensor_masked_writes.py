"""Writing to the places of a mask, in forms that compile: the whole tensor is chosen anew."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_constant_pad import constant_pad


def _spread_mask(mask, input):
    """The mask with the dimensions of the input that it leaves out."""
    return ops.broadcast_to(mask.reshape(mask.shape + (1,) * (input.ndim - mask.ndim)), input.shape)


def where_masked(input, mask, source):
    """`input[mask] = source[mask]`."""
    if mask.dtype != mindspore.bool_ or source.shape != input.shape:
        input[mask] = source[mask]
        return input
    return ops.where(_spread_mask(mask, input), source.astype(input.dtype), input)


def put_masked(input, mask, values):
    """`input[mask] = values`, one value for each place or one for all."""
    if mask.dtype != mindspore.bool_:
        input[mask] = values
        return input
    rest = input.shape[mask.ndim :]
    if values.ndim <= len(rest):
        chosen = ops.broadcast_to(values, input.shape)
    else:
        # One more row, so that there is one to point to where the mask selects nothing.
        rows = ops.cat((values, ops.zeros((1,) + rest, values.dtype)), 0)
        order = ops.cumsum(mask.reshape((-1,)).astype(mindspore.int32), 0) - 1
        # A single row is for all places. No branch: the count may be known only at run time.
        order = ops.maximum(ops.minimum(order, values.shape[0] - 1), 0)
        chosen = ops.gather(rows, order, 0).reshape(input.shape)
    return ops.where(_spread_mask(mask, input), chosen.astype(input.dtype), input)


def add_to_part(input, bounds, values):
    """`input[start:stop, ...] += values`, with (start, stop) for each of the first axes."""
    shape, widths = (), ()
    for axis, size in enumerate(input.shape):
        start, stop = bounds[axis] if axis < len(bounds) else (0, None)
        start = max(start + size, 0) if start < 0 else min(start, size)
        stop = size if stop is None else min(stop if stop >= 0 else stop + size, size)
        stop = max(start, stop)
        shape += (stop - start,)
        widths = (start, size - stop) + widths
    part = ops.zeros(shape, input.dtype) + values
    return input + constant_pad(part.astype(input.dtype), widths)
