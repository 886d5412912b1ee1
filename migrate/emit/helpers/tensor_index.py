"""Picking and writing elements where MindSpore has no operator with torch's meaning."""

import mindspore
import numpy as np
from mindspore import Tensor, ops
from mindspore.common.recompute import _pynative_executor
from mindspore.ops.auto_generate import AsStrided

from migrate.emit.helpers.functions_index import _spread_index
from migrate.emit.helpers.train_inputs import _is_compiling, _same_again


def select(input, dim, index):
    """torch's select: one slice along dim, without that dimension."""
    axis = dim + input.ndim if dim < 0 else dim
    return input[(slice(None),) * axis + (index,)]


def _integers_first(ndim, index):
    """What torch takes first, the integers, and what it takes then; "..." is the ellipsis."""
    used = 0
    for part in index:
        if part is None or isinstance(part, str):
            continue
        if isinstance(part, Tensor) and part.dtype == mindspore.bool_:
            used += part.ndim
        else:
            used += 1
    first, rest = (), ()
    for part in index:
        if part is None:
            rest += (None,)
        elif isinstance(part, str):
            first += (slice(None),) * (ndim - used)
            rest += (slice(None),) * (ndim - used)
        elif isinstance(part, Tensor):
            if part.dtype == mindspore.bool_:
                first += (slice(None),) * part.ndim
                rest += (part,)
            elif part.ndim == 0:
                first += (part,)
            else:
                first += (slice(None),)
                rest += (part,)
        elif isinstance(part, int):
            first += (part,)
        else:
            first += (slice(None),)
            rest += (part,)
    return first, rest


def take_items(tensor, index):
    """tensor[index] by torch's rule: integers first, then the index tensors in their place."""
    first, rest = _integers_first(tensor.ndim, index)
    return tensor[first][rest]


def with_items(part, index, value):
    """A copy of the part with the value at the index."""
    new = part.copy()
    new[tuple(... if isinstance(one, str) else one for one in index)] = value
    return new


def put_items(tensor, index, value):
    """A copy of the tensor with the value at the index, by torch's rule for integers."""
    first, rest = _integers_first(tensor.ndim, index)
    new = tensor.copy()
    new[first] = with_items(tensor[first], rest, value)
    return new


@ops.constexpr(check=False)
def _records_nothing():
    """Outside of compiled code and of what is differentiated, views are views as in torch."""
    return not _pynative_executor.grad_flag()


def take_element(tensor, index):
    """tensor[index]; numbers that are tensors one after the other, which has a gradient."""
    if any(isinstance(one, Tensor) and one.ndim for one in index):
        return tensor[index]
    for one in index:
        tensor = tensor[one]
    return tensor


def strided_slice(tensor, dim, start, stop, step):
    """tensor[start:stop:step] along one dimension; where a gradient is wanted by gather, whose
    gradient has a CPU kernel.
    """
    if not _is_compiling(_same_again) and _records_nothing():
        axis = dim + tensor.ndim if dim < 0 else dim
        return tensor[(slice(None),) * axis + (slice(start, stop, step),)]
    size = tensor.shape[dim]
    first = 0 if start is None else start
    last = size if stop is None else stop
    first = first + size if first < 0 else first
    last = last + size if last < 0 else last
    return ops.gather(tensor, ops.arange(first, last if last < size else size, step), dim)


def _strided_places(size, stride, storage_offset):
    """Position in the flat tensor of each element that as_strided shows."""
    places = ops.full((), storage_offset or 0, dtype=mindspore.int64)
    for i in range(len(size)):
        places = places.expand_dims(-1) + ops.arange(size[i]) * stride[i]
    return places


def as_strided(input, size, stride, storage_offset=None):
    """torch's as_strided; where a gradient is wanted, of a tensor in row-major order as a copy."""
    if not _is_compiling(_same_again) and _records_nothing():
        offset = input.storage_offset() if storage_offset is None else storage_offset
        return AsStrided()(input, tuple(size), tuple(stride), offset)
    places = _strided_places(size, stride, storage_offset)
    return ops.gather(input.reshape((-1,)), places, 0)


def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """torch's as_strided_scatter."""
    places = _strided_places(size, stride, storage_offset).reshape((-1, 1))
    flat = ops.TensorScatterUpdate()(input.reshape((-1,)), places, src.reshape((-1,)))
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
    return ops.TensorScatterUpdate()(input, where, updates)


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
    return input.masked_fill(chosen.reshape(input.shape), fill_value)


def nonzero_static(input, size, fill_value=-1):
    """torch's nonzero_static: as many rows as asked for, the rest filled."""
    if size == 0 or input.ndim == 0:
        return ops.full((size, input.ndim), fill_value, dtype=mindspore.int64)
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
    places, src = _element_places(input, dim, index), src[place].reshape((-1,))
    flat = input.reshape((-1,))
    hits = ops.tensor_scatter_elements(
        ops.zeros_like(flat), places, ops.ones_like(src), reduction="add"
    )
    untouched = hits == 0
    if reduce == "prod":
        own = flat if include_self else ops.where(untouched, flat, ops.ones_like(flat))
        return (own * ops.unsorted_segment_prod(src, places, flat.shape[0])).reshape(input.shape)
    counts = ops.ones_like(flat) if include_self else untouched.astype(flat.dtype)
    if reduce == "amax" or reduce == "amin":
        # The best value is found without gradient; then everything equal to it shares the gradient.
        if reduce == "amax":
            best = ops.unsorted_segment_max(ops.stop_gradient(src), places, flat.shape[0])
            best = ops.maximum(best, ops.stop_gradient(flat)) if include_self else best
        else:
            best = ops.unsorted_segment_min(ops.stop_gradient(src), places, flat.shape[0])
            best = ops.minimum(best, ops.stop_gradient(flat)) if include_self else best
        best = ops.where(untouched, flat, best)
        counts = counts * (flat == best).astype(flat.dtype)
        won = (src == ops.gather(best, places, 0)).astype(flat.dtype)
    else:
        won = ops.ones_like(src)
    own = ops.where(counts > 0, flat, ops.zeros_like(flat))  # 0 times infinity is no number
    gain = ops.where(won > 0, src, ops.zeros_like(src))
    total = ops.tensor_scatter_elements(own, places, gain, reduction="add")
    if reduce != "sum":
        counts = ops.tensor_scatter_elements(counts, places, won, reduction="add")
        total = total / counts if input.is_floating_point() else total // counts
    return total.reshape(input.shape)


def _element_places(input, dim, index):
    """For each element of index, the position in the flat input that it points to."""
    axis = dim + input.ndim if dim < 0 else dim
    places, step = index * 0, 1
    for i in range(input.ndim - 1, -1, -1):
        if i == axis:
            places = places + index * step
        else:
            shape = (-1,) + (1,) * (index.ndim - i - 1)
            places = places + ops.arange(index.shape[i]).reshape(shape) * step
        step *= input.shape[i]
    return places.reshape((-1,))


def index_reduce(input, dim, index, source, reduce, include_self=True):
    """torch's index_reduce: prod, mean, amax or amin of slices."""
    if input.ndim == 0:
        whole, source = input.reshape((1,)), source.reshape((-1,))
        return scatter_reduce(whole, 0, index.reshape((-1,)), source, reduce, include_self)[0]
    places = _spread_index(index, source, dim)
    return scatter_reduce(input, dim, places, source, reduce, include_self)


def filled(tensor, value):
    """A tensor like this one, full of a number or of the one value of another tensor."""
    if isinstance(value, Tensor):
        return value.broadcast_to(tensor.shape).astype(tensor.dtype)
    return ops.full_like(tensor, value)


def from_numpy_operand(value):
    """A numpy number as Python's own, an array as a tensor: numpy would compute with the tensor."""
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return Tensor(value)
    return float(value) if isinstance(value, (np.generic, np.ndarray)) else value


def range_index(index):
    """A range as MindSpore takes it between brackets."""
    return Tensor(list(index), mindspore.int64)


def numpy_index(index):
    """What numpy made, as MindSpore takes it between brackets: a tensor or an integer."""
    if isinstance(index, np.ndarray) and index.ndim > 0:
        return Tensor(index)
    return index.item() if isinstance(index, (np.generic, np.ndarray)) else index
