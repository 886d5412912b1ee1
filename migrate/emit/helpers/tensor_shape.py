"""Shapes that torch's Tensor methods make and MindSpore's do not."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_constant_pad import constant_pad
from migrate.emit.helpers.tensor_index import _records_nothing, as_strided
from migrate.emit.helpers.train_inputs import _is_compiling, _same_again


def unflatten(input, dim, sizes):
    """torch's unflatten: one dimension becomes several."""
    axis = dim + input.ndim if dim < 0 else dim
    return input.reshape(input.shape[:axis] + tuple(sizes) + input.shape[axis + 1 :])


def unfold(input, dimension, size, step):
    """torch's Tensor.unfold: windows of one dimension, laid out in a new last one."""
    if input.ndim == 0:
        return input.reshape((1,))[:size]
    axis = dimension + input.ndim if dimension < 0 else dimension
    count = (input.shape[axis] - size) // step + 1
    if not _is_compiling(_same_again) and _records_nothing():
        moves = tuple(input.stride())
        shape = (*input.shape[:axis], count, *input.shape[axis + 1 :], size)
        step = moves[axis] * step
        return as_strided(input, shape, (*moves[:axis], step, *moves[axis + 1 :], moves[axis]))
    places = ops.arange(count).reshape((-1, 1)) * step + ops.arange(size)
    return ops.movedim(ops.gather(input, places, axis), axis + 1, -1)


def hsplit(input, indices_or_sections):
    """torch's hsplit, which also cuts vectors."""
    return ops.tensor_split(input, indices_or_sections, axis=0 if input.ndim == 1 else 1)


def squeeze_dims(input, dim):
    """torch's squeeze of several dimensions; none of them given, none goes."""
    shape = ()
    for i in range(input.ndim):
        if input.shape[i] != 1 or (i not in dim and i - input.ndim not in dim):
            shape += (input.shape[i],)
    return input.reshape(shape)


def narrow(input, dim, start, length):
    """torch's narrow; MindSpore's wants a length above zero and a start that is no tensor."""
    axis = dim + input.ndim if dim < 0 else dim
    if length == 0:
        return ops.zeros((*input.shape[:axis], 0, *input.shape[axis + 1 :]), input.dtype)
    if isinstance(start, mindspore.Tensor):
        places = (start + ops.arange(length)) % input.shape[axis]
        return ops.gather(input, places, axis)
    start = start + input.shape[axis] if start < 0 else start
    return input[(slice(None),) * axis + (slice(start, start + length),)]


def roll(input, shifts, dims=None):
    """torch's roll, also of nothing; ops.roll has no CPU kernel."""
    if input.size < 2:
        return input.copy()
    return mindspore.numpy.roll(input, shifts, dims)


def tile(input, dims):
    """torch's tile, also no times."""
    if 0 not in dims and input.size > 0:
        return ops.tile(input, tuple(dims))
    longest = max(len(dims), input.ndim)
    times = (1,) * (longest - len(dims)) + tuple(dims)
    sizes = (1,) * (longest - input.ndim) + input.shape
    shape = ()
    for i in range(longest):
        shape += (sizes[i] * times[i],)
    return ops.zeros(shape, input.dtype)


def constant_pad_nd(input, pad, value=0):
    """torch's constant_pad_nd: negative numbers cut, and what is empty is filled."""
    shape = input.shape
    for i in range(len(pad) // 2):
        axis, before, after = input.ndim - 1 - i, pad[2 * i], pad[2 * i + 1]
        shape = (*shape[:axis], shape[axis] + before + after, *shape[axis + 1 :])
        if before < 0 or after < 0:
            kept = slice(max(-before, 0), input.shape[axis] - max(-after, 0))
            input = input[(slice(None),) * axis + (kept,)]
    if input.size == 0 or 0 in shape:
        return ops.full_like(ops.zeros(shape, input.dtype), value)
    added = ()
    for number in pad:
        added += (max(number, 0),)
    return constant_pad(input, added, value)
