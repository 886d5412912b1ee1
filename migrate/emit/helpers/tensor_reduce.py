"""Statistics that MindSpore lacks, or gives in another form than torch."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_index import kthvalue, sort


def aminmax(input, dim=None, keepdim=False):
    """torch's aminmax."""
    if input.ndim == 0:
        return input.copy(), input.copy()
    if dim is not None and input.shape[dim] == 0:
        raise IndexError("nothing has no smallest element")
    if input.dtype == mindspore.bool_:
        low, high = aminmax(input.astype(mindspore.int32), dim, keepdim)
        return low.astype(mindspore.bool_), high.astype(mindspore.bool_)
    return (
        ops.amin(input, axis=dim, keepdims=keepdim),
        ops.amax(input, axis=dim, keepdims=keepdim),
    )


def equal(input, other):
    """torch's equal: one bool for whole tensors."""
    return input.shape == other.shape and bool((input == other).all())


def median(input, dim=None, keepdim=False):
    """torch's median: the lower of two middle values, and where it is."""
    if dim is None:
        flat = input.reshape((-1,))
        return kthvalue(flat, (flat.shape[0] + 1) // 2, 0)[0]
    if input.ndim == 0:
        return input, ops.zeros((), mindspore.int64)
    return kthvalue(input, (input.shape[dim] + 1) // 2, dim, keepdim)


def nanmedian(input, dim=None, keepdim=False):
    """torch's nanmedian: the median of the numbers."""
    lanes = input.reshape((-1,)) if dim is None or input.ndim == 0 else ops.movedim(input, dim, -1)
    numbers = ops.logical_not(ops.isnan(lanes))
    count = numbers.astype(mindspore.int64).sum(-1, keepdims=True)
    order = ops.sort(ops.where(numbers, lanes, ops.full_like(lanes, float("inf"))))[1]
    middle = ops.maximum(count - 1, ops.zeros_like(count)) // 2
    indices = ops.gather_elements(order, -1, middle).astype(mindspore.int64)
    values, indices = ops.gather_elements(lanes, -1, indices).squeeze(-1), indices.squeeze(-1)
    if dim is None:
        return values
    if keepdim and input.ndim > 0:
        return values.expand_dims(dim), indices.expand_dims(dim)
    return values, indices


def mode(input, dim=-1, keepdim=False):
    """torch's mode: the most frequent value, the smallest of several, and a place where it is."""
    if input.ndim == 0:
        return input, ops.zeros((), mindspore.int64)
    values, order = sort(input, dim)
    axis = dim + input.ndim if dim < 0 else dim
    same = values.expand_dims(axis) == values.expand_dims(axis + 1)
    count = same.astype(mindspore.float32).sum(axis)
    best = count.argmax(axis, True).astype(mindspore.int64)
    chosen = best + ops.gather_elements(count, dim, best).astype(mindspore.int64) - 1
    indices = ops.gather_elements(order, dim, chosen).astype(mindspore.int64)
    values = ops.gather_elements(input, dim, indices)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def nanquantile(input, q, dim=None, keepdim=False, interpolation="linear"):
    """torch's nanquantile: the quantile of the numbers."""
    dim = None if input.ndim == 0 else dim
    lanes = input.reshape((-1,)) if dim is None else ops.movedim(input, dim, -1)
    numbers = ops.logical_not(ops.isnan(lanes))
    count = numbers.astype(input.dtype).sum(-1, keepdims=True)
    order = ops.sort(ops.where(numbers, lanes, ops.full_like(lanes, float("inf"))))[1]
    wanted = q if isinstance(q, mindspore.Tensor) else mindspore.Tensor(q, input.dtype)
    position = wanted.reshape((-1,)) * ops.maximum(count - 1, ops.zeros_like(count))
    low, high = ops.floor(position), ops.ceil(position)
    if interpolation == "lower":
        position = low
    elif interpolation == "higher":
        position = high
    elif interpolation == "midpoint":
        position = (low + high) / 2
    elif interpolation == "nearest":
        position = ops.round(position)
    order = order.astype(mindspore.int64)
    below = ops.gather_elements(order, -1, low.astype(mindspore.int64))
    above = ops.gather_elements(order, -1, high.astype(mindspore.int64))
    below, above = ops.gather_elements(lanes, -1, below), ops.gather_elements(lanes, -1, above)
    result = ops.movedim(below + (above - below) * (position - low), -1, 0)
    if keepdim and dim is None:
        result = result.reshape((-1,) + (1,) * input.ndim)
    elif keepdim:
        result = result.expand_dims(dim + 1 if dim >= 0 else dim)
    return result.squeeze(0) if wanted.ndim == 0 else result


def count_nonzero(input, dim=None):
    """torch's count_nonzero: int64, and of bool tensors too."""
    chosen = (input != 0).astype(mindspore.int64)
    if input.ndim == 0:
        return chosen
    return ops.sum(chosen, dim=tuple(range(input.ndim)) if dim is None else dim)


def cov(input, *, correction=1, fweights=None, aweights=None):
    """torch's cov; MindSpore's is float32 for float16."""
    found = ops.cov(input, correction=correction, fweights=fweights, aweights=aweights)
    return found.astype(input.dtype) if input.is_floating_point() else found


def corrcoef(input):
    """torch's corrcoef, from the covariances."""
    if input.dtype == mindspore.float16:
        return corrcoef(input.astype(mindspore.float32)).astype(mindspore.float16)
    covariance = ops.cov(input)
    if covariance.ndim == 0:
        return covariance / covariance
    spread = ops.sqrt(ops.diagonal(covariance))
    return ops.clamp(covariance / spread.expand_dims(1) / spread, -1, 1)


def histogram(input, bins, range=None, weight=None, density=False):
    """torch's histogram over equal bins, or between given edges."""
    values = input.reshape((-1,))
    if isinstance(bins, int) and range is None and input.size == 0:
        range = (0.0, 1.0)
    if isinstance(bins, int):
        low, high = (values.min(), values.max()) if range is None else range
        if range is None:
            low, high = low - 0.5 * (low == high), high + 0.5 * (low == high)
        share = ops.arange(bins + 1).astype(input.dtype) / bins
        edges = low * (1 - share) + high * share
    else:
        edges = bins
    count = edges.shape[0] - 1
    places = (values.expand_dims(1) >= edges).astype(mindspore.int64).sum(1) - 1
    places = ops.where(values == edges[count], count - 1, places)
    inside = ops.logical_and(places >= 0, places < count)
    weights = ops.ones_like(values) if weight is None else weight.reshape((-1,))
    heights = ops.tensor_scatter_elements(
        ops.zeros((count,), input.dtype),
        ops.where(inside, places, 0),
        ops.where(inside, weights, 0.0).astype(input.dtype),
        reduction="add",
    )
    if density:
        heights = heights / (heights.sum() * (edges[1:] - edges[:-1]))
    return heights, edges


def histc(input, bins=100, min=0, max=0):
    """torch's histc, also of nothing."""
    if input.size == 0:
        return ops.zeros((bins,), input.dtype)
    if input.dtype == mindspore.float16:
        return histc(input.astype(mindspore.float32), bins, min, max).astype(input.dtype)
    return ops.histc(input, bins, float(min), float(max))


def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    """torch's searchsorted: numbers as well as tensors, in any order that a sorter undoes."""
    if sorter is not None:
        sorted_sequence = ops.gather_elements(sorted_sequence, -1, sorter)
    values = input if isinstance(input, mindspore.Tensor) else mindspore.Tensor(input)
    dtype = mindspore.int32 if out_int32 else mindspore.int64
    if values.size == 0 or sorted_sequence.size == 0:
        return ops.zeros(values.shape, dtype)
    wide = mindspore.float64 if values.dtype != sorted_sequence.dtype else values.dtype
    wide = mindspore.float32 if wide == mindspore.float16 else wide
    right = right or side == "right"
    places = ops.searchsorted(sorted_sequence.astype(wide), values.astype(wide), right=right)
    return places.astype(dtype)


def bucketize(input, boundaries, *, out_int32=False, right=False):
    """torch's bucketize; ops.bucketize wants the boundaries as a list."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)
