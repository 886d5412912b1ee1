"""Reductions of what may have no elements, which MindSpore's CPU kernels do not write at all."""

import mindspore
from mindspore import ops


def of_nothing(result, value):
    """The value in place of what the kernel left; the result still has a gradient, of zero."""
    everywhere = ops.ones_like(result, dtype=mindspore.bool_)
    return ops.where(everywhere, ops.full_like(result, value), result)


def sum_with_empty(input, dim=None, keepdim=False, *, dtype=None):
    """torch's sum: zero of nothing."""
    total = input.sum(dim=dim, keepdim=keepdim, dtype=dtype)
    return of_nothing(total, 0.0) if input.size == 0 else total


def mean_with_empty(input, dim=None, keepdim=False, *, dtype=None):
    """torch's mean: NaN of nothing."""
    if dtype is not None:
        input = input.astype(dtype)
    result = ops.mean(input, axis=dim, keep_dims=keepdim)
    return of_nothing(result, float("nan")) if input.size == 0 else result


def any_with_empty(input, dim=None, keepdim=False):
    """torch's any: False of nothing."""
    found = ops.any(input.bool(), axis=dim, keep_dims=keepdim)
    found = ops.zeros_like(found) if input.size == 0 else found
    return found.astype(mindspore.uint8) if input.dtype == mindspore.uint8 else found


def all_with_empty(input, dim=None, keepdim=False):
    """torch's all: True of nothing."""
    found = ops.all(input.bool(), axis=dim, keep_dims=keepdim)
    found = ops.ones_like(found) if input.size == 0 else found
    return found.astype(mindspore.uint8) if input.dtype == mindspore.uint8 else found


def matmul_with_empty(input, other):
    """torch's matmul, mm, bmm and dot: sums over nothing are zero."""
    product = ops.matmul(input, other)
    return of_nothing(product, 0.0) if input.size == 0 or other.size == 0 else product


def one_hot_with_empty(tensor, num_classes):
    """torch's one_hot, which MindSpore refuses of nothing."""
    if tensor.size == 0:
        return ops.zeros((*tensor.shape, num_classes), mindspore.int64)
    return ops.one_hot(tensor, num_classes)


def bincount_with_empty(input, weights=None, minlength=0):
    """torch's bincount: only zeros for nothing."""
    if input.size == 0:
        return ops.zeros((minlength,), mindspore.int64)
    return ops.bincount(input, minlength=minlength).astype(mindspore.int64)


def argmax_with_empty(input, dim=None, keepdim=False):
    """torch's argmax: no places of no rows."""
    if input.size > 0:
        return ops.argmax(input, dim, keepdim)
    return _no_places(input, dim, keepdim)


def argmin_with_empty(input, dim=None, keepdim=False):
    """torch's argmin: no places of no rows."""
    if input.size > 0:
        return ops.argmin(input, axis=dim, keepdims=keepdim).astype(mindspore.int64)
    return _no_places(input, dim, keepdim)


def _no_places(input, dim, keepdim):
    if dim is None or input.shape[dim] == 0:
        raise IndexError("nothing has no largest and no smallest element")
    shape = list(input.shape)
    shape[dim] = 1
    places = ops.zeros(tuple(shape), mindspore.int64)
    return places if keepdim else places.squeeze(dim)
