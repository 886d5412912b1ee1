"""Picking and writing elements where MindSpore has no operator with torch's meaning."""

import mindspore
from mindspore import ops

from migrate.port.helpers.functions_index import _spread_index


def select(input, dim, index):
    """torch's select: one slice along dim, without that dimension."""
    axis = dim + input.ndim if dim < 0 else dim
    return input[(slice(None),) * axis + (index,)]


def _strided_places(size, stride, storage_offset):
    """Position in the flat tensor of each element that as_strided shows."""
    places = ops.full((), storage_offset or 0, dtype=mindspore.int64)
    for i in range(len(size)):
        places = places.expand_dims(-1) + ops.arange(size[i]) * stride[i]
    return places


def as_strided(input, size, stride, storage_offset=None):
    """torch's as_strided of a tensor in row-major order, as a copy."""
    places = _strided_places(size, stride, storage_offset)
    return ops.gather(input.reshape((-1,)), places, 0)


def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """torch's as_strided_scatter."""
    places = _strided_places(size, stride, storage_offset).reshape((-1,))
    flat = ops.tensor_scatter_elements(input.reshape((-1,)), places, src.reshape((-1,)))
    return flat.reshape(input.shape)


def put(input, index, source, accumulate=False):
    """torch's put: write at positions of the flattened tensor."""
    places = index.reshape((-1,))
    places = ops.where(places < 0, places + input.size, places)
    flat = ops.tensor_scatter_elements(
        input.reshape((-1,)),
        places,
        source.reshape((-1,)),
        reduction="add" if accumulate else "none",
    )
    return flat.reshape(input.shape)


def index_put(input, indices, values, accumulate=False):
    """torch's index_put with integer positions or masks for the leading dimensions."""
    places = ()
    for index in indices:
        if index.dtype == mindspore.bool_:
            places += ops.unbind(ops.nonzero(index), dim=1)
        else:
            places += (index,)
    total = places[0] * 0
    for i in range(1, len(places)):
        total = total + places[i] * 0
    columns = ()
    for i in range(len(places)):
        place = places[i] + total
        columns += (ops.where(place < 0, place + input.shape[i], place),)
    where = ops.stack(columns, axis=-1)
    updates = values.broadcast_to(total.shape + input.shape[len(places) :])
    if accumulate:
        return ops.tensor_scatter_add(input, where, updates)
    return ops.scatter_nd_update(input, where, updates)


def fill_diagonal(input, fill_value, wrap=False):
    """torch's fill_diagonal_, as a new tensor."""
    step, place = 0, 1
    for i in range(input.ndim - 1, -1, -1):
        step += place
        place *= input.shape[i]
    flat = ops.arange(input.size)
    chosen = flat % step == 0
    if input.ndim == 2 and not wrap:
        chosen = ops.logical_and(chosen, flat < input.shape[1] ** 2)
    return ops.masked_fill(input, chosen.reshape(input.shape), fill_value)


def nonzero_static(input, size, fill_value=-1):
    """torch's nonzero_static: as many rows as asked for, the rest filled."""
    flat = ops.arange(input.size)
    chosen = ops.where(input.reshape((-1,)) != 0, flat, flat * 0 + input.size)
    places = ops.sort(chosen.astype(mindspore.float64))[0].astype(mindspore.int64)[:size]
    if size > input.size:
        rest = ops.full((size - input.size,), input.size, dtype=mindspore.int64)
        places = ops.cat((places, rest))
    columns, step = (), 1
    for i in range(input.ndim - 1, -1, -1):
        columns = (places // step % input.shape[i], *columns)
        step *= input.shape[i]
    return ops.where((places < input.size).expand_dims(1), ops.stack(columns, axis=1), fill_value)


def scatter_reduce(input, dim, index, src, reduce, include_self=True):
    """torch's scatter_reduce; ties of amax and amin share the gradient, as in torch."""
    place = ()
    for size in index.shape:
        place += (slice(0, size),)
    src = src[place]
    touched = ops.tensor_scatter_elements(
        ops.zeros_like(input), index, ops.ones_like(src), axis=dim, reduction="add"
    )
    kept = input if include_self else ops.where(touched > 0, ops.zeros_like(input), input)
    if reduce == "sum":
        return ops.tensor_scatter_elements(kept, index, src, axis=dim, reduction="add")
    if reduce == "mean":
        total = ops.tensor_scatter_elements(kept, index, src, axis=dim, reduction="add")
        count = touched + 1 if include_self else ops.maximum(touched, ops.ones_like(touched))
        return total / count if input.is_floating_point() else total // count
    where = _element_places(input, dim, index)
    if reduce == "prod":
        start = input if include_self else ops.where(touched > 0, ops.ones_like(input), input)
        return ops.tensor_scatter_mul(start, where, src)
    first = ops.tensor_scatter_elements(input, index, src, axis=dim)
    start = ops.stop_gradient(input if include_self else first)
    if reduce == "amax":
        best = ops.tensor_scatter_max(start, where, ops.stop_gradient(src))
    else:
        best = ops.tensor_scatter_min(start, where, ops.stop_gradient(src))
    won = (src == ops.gather_elements(best, dim, index)).astype(input.dtype)
    stays = (input == best).astype(input.dtype)
    if not include_self:
        stays = ops.where(touched > 0, ops.zeros_like(stays), ops.ones_like(stays))
    shares = ops.tensor_scatter_elements(stays, index, won, axis=dim, reduction="add")
    total = ops.tensor_scatter_elements(stays * input, index, won * src, axis=dim, reduction="add")
    return total / shares if input.is_floating_point() else total // shares


def _element_places(input, dim, index):
    """For each element of index, all coordinates of the place it points to."""
    axis = dim + input.ndim if dim < 0 else dim
    columns = ()
    for i in range(input.ndim):
        if i == axis:
            columns += (index,)
        else:
            shape = (1,) * i + (-1,) + (1,) * (index.ndim - i - 1)
            columns += (ops.arange(index.shape[i]).reshape(shape).broadcast_to(index.shape),)
    return ops.stack(columns, axis=-1)


def index_reduce(input, dim, index, source, reduce, include_self=True):
    """torch's index_reduce: prod, mean, amax or amin of slices."""
    places = _spread_index(index, source, dim)
    return scatter_reduce(input, dim, places, source, reduce, include_self)
