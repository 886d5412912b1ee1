"""Sorting, searching and picking as torch does it: int64 positions, sorted unique values."""

import mindspore
import numpy as np
from mindspore import ops


def sort(input, dim=-1, descending=False, stable=False):
    """torch's sort; MindSpore gives the positions as int32."""
    if input.ndim == 0 or input.size == 0:
        return input.copy(), ops.zeros(input.shape, mindspore.int64)
    if input.dtype == mindspore.bool_:
        values, indices = sort(input.astype(mindspore.int32), dim, descending, stable)
        return values.astype(mindspore.bool_), indices
    values, indices = ops.sort(input, axis=dim, descending=descending)
    indices = indices.astype(mindspore.int64)
    if stable:
        indices = _stable_order(ops.stop_gradient(input), values, dim, descending)
        values = ops.gather_elements(input, dim, indices)
    return values, indices


def _stable_order(input, ordered, dim, descending):
    """Where the elements come from, equal ones in their old order; MindSpore's order is any."""
    size, sign = input.shape[dim], -1 if descending else 1
    lanes = sign * input.swapaxes(dim, -1).astype(mindspore.float64)
    ordered = sign * ops.stop_gradient(ordered).swapaxes(dim, -1).astype(mindspore.float64)
    # The place of the value, then the element's own: numbers of which no two are equal.
    rank = ops.searchsorted(ordered, lanes) * size + ops.arange(size)
    order = ops.sort(rank)[1]
    return order.astype(mindspore.int64).swapaxes(dim, -1)


def argsort(input, dim=-1, descending=False, stable=False):
    """torch's argsort; MindSpore gives the positions as int32."""
    return sort(input, dim, descending, stable)[1]


def topk(input, k, dim=-1, largest=True, sorted=True):
    """torch's topk; MindSpore gives the positions as int32."""
    if input.ndim == 0:
        return input.copy(), ops.zeros((), mindspore.int64)
    if isinstance(k, int) and k == 0:
        shape = [0 if axis == dim % input.ndim else n for axis, n in enumerate(input.shape)]
        return ops.zeros(tuple(shape), input.dtype), ops.zeros(tuple(shape), mindspore.int64)
    values, indices = ops.topk(input, k, dim=dim, largest=largest, sorted=sorted)
    return values, indices.astype(mindspore.int64)


def kthvalue(input, k, dim=-1, keepdim=False):
    """torch's kthvalue, from a full sort."""
    if not 1 <= k <= (input.shape[dim] if input.ndim > 0 else 1):
        raise ValueError("k is not within the dimension's size")
    if input.ndim == 0:
        return input, ops.zeros((), mindspore.int64)
    values, indices = sort(input, dim)
    axis = dim + input.ndim if dim < 0 else dim
    place = (slice(None),) * axis + (slice(k - 1, k),)
    values, indices = values[place], indices[place].astype(mindspore.int64)
    return (values, indices) if keepdim else (values.squeeze(axis), indices.squeeze(axis))


def nonzero(input, as_tuple=False):
    """torch's nonzero; as_tuple gives one tensor of positions for each axis."""
    if input.ndim == 0:  # no dimensions: one empty row where the number is not zero
        rows = ops.zeros((int(bool(input != 0)), 0), mindspore.int64)
        return ops.nonzero(input.reshape((1,))).unbind(1) if as_tuple else rows
    positions = ops.nonzero(input)
    return ops.unbind(positions, dim=1) if as_tuple else positions


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """torch's unique: MindSpore's is in order of appearance. Along `dim` numpy computes it."""
    if dim is not None:
        found = np.unique(
            input.asnumpy(), return_index=False, return_inverse=True, return_counts=True, axis=dim
        )
        values, inverse, counts = (mindspore.Tensor(part) for part in found)
    elif input.size == 0:
        values, inverse = input.reshape((-1,)), ops.zeros(input.shape, mindspore.int64)
        counts = ops.zeros((0,), mindspore.int64)
    elif input.dtype == mindspore.bool_:
        found = unique(input.astype(mindspore.int32), sorted, return_inverse, return_counts)
        if not (return_inverse or return_counts):
            return found.astype(mindspore.bool_)
        return (found[0].astype(mindspore.bool_), *found[1:])
    else:
        values, inverse = ops.unique(input.reshape((-1,)))
        values, order = ops.sort(values)
        inverse = ops.argsort(order)[inverse].astype(mindspore.int64)
        counts = ops.bincount(inverse).astype(mindspore.int64) if return_counts else None
        inverse = inverse.reshape(input.shape)
    result = (values,)
    if return_inverse:
        result += (inverse,)
    if return_counts:
        result += (counts,)
    return result if len(result) > 1 else values


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """torch's unique_consecutive with int64 positions, and a tensor alone where torch gives one."""
    if input.size == 0:
        nothing = ops.zeros((0,), mindspore.int64)
        result = (input if dim is not None else input.reshape((-1,)),)
        if return_inverse:
            result += (nothing if dim is not None else nothing.reshape(input.shape),)
        if return_counts:
            result += (nothing,)
        return result if len(result) > 1 else result[0]
    result = ops.unique_consecutive(
        input, return_inverse=return_inverse, return_counts=return_counts, dim=dim
    )
    if not (return_inverse or return_counts):
        return result
    return (result[0], *[part.astype(mindspore.int64) for part in result[1:]])


def take(input, index):
    """torch's take: positions in the flattened tensor, negative ones from the end."""
    if index.size == 0:
        return ops.zeros(index.shape, input.dtype)
    flat = input.reshape((-1,))
    places = ops.where(index < 0, index + flat.shape[0], index).reshape((-1,))
    return ops.gather(flat, places, 0).reshape(index.shape)


def take_along_dim(input, indices, dim=None):
    """torch's take_along_dim, which broadcasts all other dimensions."""
    if dim is None:
        return ops.gather_elements(input.reshape((-1,)), 0, indices.reshape((-1,)))
    axis = dim + input.ndim if dim < 0 else dim
    shape = ()
    for i in range(input.ndim):
        shape += (max(input.shape[i], indices.shape[i]),)
    source = (*shape[:axis], input.shape[axis], *shape[axis + 1 :])
    wanted = (*shape[:axis], indices.shape[axis], *shape[axis + 1 :])
    return ops.gather_elements(input.broadcast_to(source), dim, indices.broadcast_to(wanted))


def repeat_interleave(input, repeats, dim=None, output_size=None):
    """torch's repeat_interleave with as many repeats for each element as a tensor says."""
    if dim is None:
        input, dim = input.reshape((-1,)), 0
    counts = repeats.broadcast_to((input.shape[dim],)).astype(mindspore.int32)
    ends = ops.cumsum(counts, 0).astype(mindspore.int64)  # an Ascend adds no int64 up
    places = ops.range(mindspore.Tensor(0), ends[-1], mindspore.Tensor(1))
    return ops.gather(input, ops.searchsorted(ends, places, right=True), dim)


def _spread_index(index, like, dim):
    """A 1-D index repeated to the shape of `like`, for operators that want one per element."""
    axis = dim + like.ndim if dim < 0 else dim
    shape = (1,) * axis + (index.shape[0],) + (1,) * (like.ndim - axis - 1)
    return index.reshape(shape).broadcast_to(like.shape)


def index_add(input, dim, index, source, alpha=1):
    """torch's index_add."""
    if input.dtype == mindspore.bool_:
        added = index_add(input.astype(mindspore.int32), dim, index, source.astype(mindspore.int32))
        return added > 0 if alpha else input
    if input.ndim == 0:
        return input + alpha * source.reshape((-1,)).sum()
    places = _spread_index(index, source, dim)
    return ops.tensor_scatter_elements(input, places, alpha * source, axis=dim, reduction="add")


def index_copy(input, dim, index, source):
    """torch's index_copy."""
    if input.ndim == 0:
        return source.reshape((-1,))[-1]
    return ops.tensor_scatter_elements(input, _spread_index(index, source, dim), source, axis=dim)


def index_fill(input, dim, index, value):
    """torch's index_fill, differentiable in the input and in a tensor value."""
    if input.ndim == 0:
        return index_fill(input.reshape((1,)), 0, index, value).reshape(())
    axis = dim + input.ndim if dim < 0 else dim
    chosen = ops.tensor_scatter_elements(
        ops.zeros((input.shape[axis],), mindspore.float32),
        index.reshape((-1,)),
        ops.ones((index.size,), mindspore.float32),
    )
    chosen = chosen.reshape((-1,) + (1,) * (input.ndim - axis - 1)) > 0
    return ops.where(chosen, value, input)


def scatter(input, dim, index, src, reduce=None):
    """torch's scatter: src may be a number, or a tensor larger than index."""
    shape, number = input.shape, isinstance(src, (int, float, bool))
    if input.ndim == 0:
        input, index, dim = input.reshape((1,)), index.reshape((-1,)), 0
        src = src if number else src.reshape((-1,))
    elif index.ndim == 0:  # one place of a vector
        index, src = index.reshape((1,)), src if number else src.reshape((-1,))
    if number:
        src = ops.full_like(index, src, dtype=input.dtype)
    elif src.shape != index.shape:
        place = ()
        for size in index.shape:
            place += (slice(0, size),)
        src = src[place]
    if reduce is None:
        result = ops.tensor_scatter_elements(input, index, src, axis=dim)
    elif reduce == "add":
        result = ops.tensor_scatter_elements(input, index, src, axis=dim, reduction="add")
    else:
        result = ops.tensor_scatter_elements(input, index, src, axis=dim, reduction="mul")
    return result.reshape(shape)


def scatter_add(input, dim, index, src):
    """torch's scatter_add."""
    return scatter(input, dim, index, src, "add")
