"""torch.masked: reductions over the elements that a mask selects."""

import mindspore
import numpy as np
from mindspore import ops

from migrate.emit.helpers.functions_decompose import vector_norm
from migrate.emit.helpers.functions_reduce import cumprod
from migrate.emit.helpers.functions_shape import broadcast_shapes


def _masked_input(input, mask, fill, dtype):
    """The input with `fill` in place of what the mask leaves out."""
    x = input if dtype is None else input.astype(dtype)
    if mask is None:
        return x
    if fill in (float("inf"), -float("inf")) and not x.is_floating_point():
        limits = np.iinfo(mindspore.dtype_to_nptype(x.dtype))
        fill = int(limits.max if fill > 0 else limits.min)
    return ops.where(ops.broadcast_to(mask, x.shape), x, ops.full_like(x, fill))


def _masked_axes(input, dim):
    """The dimensions to reduce, none twice; torch takes None and () for all."""
    if dim is None or dim in ((), []):
        return tuple(range(input.ndim))
    axes = (dim,) if isinstance(dim, int) else tuple(dim)
    return axes if input.ndim else ()


def _masked_count(input, mask, axes, keepdim):
    """How many elements each result is made from."""
    ones = ops.ones_like(input)
    chosen = ones if mask is None else ones * ops.broadcast_to(mask, input.shape).astype(ones.dtype)
    return ops.sum(chosen, dim=axes, keepdim=keepdim) if axes else chosen


def masked_scatter(input, mask, source):
    """torch's masked_scatter: the next element of source wherever the mask is true."""
    shape = broadcast_shapes(input.shape, mask.shape)
    input, chosen = input.broadcast_to(shape), mask.broadcast_to(shape)
    count = ops.cumsum(chosen.reshape((-1,)).astype(mindspore.int32), 0) - 1
    place = ops.clamp(count, min=0, max=source.size - 1).astype(mindspore.int64)
    taken = ops.gather(source.reshape((-1,)), place, 0).reshape(input.shape)
    return ops.where(chosen, taken, input)


def masked_select(input, mask):
    """torch's masked_select; MindSpore's gradient wants equal shapes."""
    shape = broadcast_shapes(input.shape, mask.shape)
    return ops.masked_select(input.broadcast_to(shape), mask.broadcast_to(shape))


def masked_sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """torch.masked.sum."""
    x, axes = _masked_input(input, mask, 0, dtype), _masked_axes(input, dim)
    x = x.astype(mindspore.int64) if x.dtype == mindspore.bool_ else x
    return ops.sum(x, dim=axes, keepdim=keepdim) if axes else x


def masked_prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """torch.masked.prod."""
    x = _masked_input(input, mask, 1, dtype)
    x = x.astype(mindspore.int64) if x.dtype == mindspore.bool_ else x
    chosen = [axis + input.ndim if axis < 0 else axis for axis in _masked_axes(input, dim)]
    for axis in range(input.ndim - 1, -1, -1):  # from the last one: the others keep their places
        if axis in chosen:
            x = x.prod(axis, keepdim)
    return x


def masked_amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """torch.masked.amax."""
    x, axes = _masked_input(input, mask, -float("inf"), dtype), _masked_axes(input, dim)
    return ops.amax(x, axis=axes, keepdims=keepdim) if axes else x


def masked_amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """torch.masked.amin."""
    x, axes = _masked_input(input, mask, float("inf"), dtype), _masked_axes(input, dim)
    return ops.amin(x, axis=axes, keepdims=keepdim) if axes else x


def masked_argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """torch.masked.argmax."""
    x = _masked_input(input, mask, -float("inf"), dtype)
    return _masked_place(x, dim, keepdim).astype(x.dtype)  # torch gives the input's dtype


def masked_argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """torch.masked.argmin."""
    x = _masked_input(input, mask, float("inf"), dtype)
    return _masked_place(-x, dim, keepdim).astype(x.dtype)


def _masked_place(x, dim, keepdim):
    """The first NaN, which torch takes for the largest and for the smallest; else the maximum."""
    if x.ndim == 0:
        return ops.zeros((), mindspore.int64)
    lanes, axis = (x.reshape((-1,)), 0) if dim is None else (x, dim)
    place = ops.argmax(lanes, dim=axis, keepdim=keepdim)
    if x.is_floating_point():
        undefined = ops.isnan(lanes).astype(mindspore.float32)
        first = ops.argmax(undefined, dim=axis, keepdim=keepdim)
        place = ops.where(ops.amax(undefined, axis=axis, keepdims=keepdim) > 0, first, place)
    return place.reshape((1,) * x.ndim) if dim is None and keepdim else place


def masked_mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """torch.masked.mean."""
    total = masked_sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _masked_count(input, mask, _masked_axes(input, dim), keepdim)


def masked_median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """torch.masked.median: the lower middle of what is left, NaN where nothing is."""
    x = _masked_input(input, mask, float("inf"), dtype)
    if x.ndim == 0:
        return _masked_input(input, mask, float("nan"), dtype)
    ordered = ops.sort(x, axis=dim)[0]
    count = _masked_count(input, mask, (dim,), True)
    middle = ops.maximum((count - 1) / 2, ops.zeros_like(count)).astype(mindspore.int64)
    found = ops.gather_elements(ordered, dim, middle)
    found = ops.where(count > 0, found, ops.full_like(found, float("nan")))
    return found if keepdim else found.squeeze(dim)


def masked_norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """torch.masked.norm: a vector norm, whatever the number of dimensions."""
    fill = float("inf") if ord == -float("inf") else 0
    x, axes = _masked_input(input, mask, fill, dtype), _masked_axes(input, dim)
    return vector_norm(x, ord, axes, keepdim)


def masked_var(
    input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None
):
    """torch.masked.var."""
    axes = _masked_axes(input, dim)
    x = input if dtype is None else input.astype(dtype)
    mean = masked_mean(x, dim, keepdim=True, mask=mask)
    squares = masked_sum((x - mean) * (x - mean), dim, keepdim=keepdim, mask=mask)
    count = _masked_count(x, mask, axes, keepdim)
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    return squares / ops.maximum(count - correction, ops.zeros_like(count))


def masked_std(
    input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None
):
    """torch.masked.std."""
    return ops.sqrt(
        masked_var(
            input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask
        )
    )


def masked_cumsum(input, dim, *, dtype=None, mask=None):
    """torch.masked.cumsum."""
    x = _masked_input(input, mask, 0, dtype)
    return ops.cumsum(x, dim) if x.ndim and x.size else x


def masked_cumprod(input, dim, *, dtype=None, mask=None):
    """torch.masked.cumprod."""
    return cumprod(_masked_input(input, mask, 1, dtype), dim)


def masked_softmax(input, dim, *, dtype=None, mask=None):
    """torch.masked.softmax."""
    x = _masked_input(input, mask, -float("inf"), dtype)
    if x.ndim == 0:
        return ops.exp(x - x)
    # Where nothing is selected torch gives NaN, and so does infinity minus infinity.
    parts = ops.exp(x - ops.stop_gradient(ops.amax(x, axis=dim, keepdims=True)))
    return parts / ops.sum(parts, dim=dim, keepdim=True)


def masked_log_softmax(input, dim, *, dtype=None, mask=None):
    """torch.masked.log_softmax."""
    x = _masked_input(input, mask, -float("inf"), dtype)
    return ops.log_softmax(x, axis=dim) if x.ndim else x - x


def masked_softmin(input, dim, *, dtype=None, mask=None):
    """torch.masked.softmin."""
    return masked_softmax(-input, dim, dtype=dtype, mask=mask)


def masked_normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """torch.masked.normalize: what the mask leaves out becomes zero."""
    length = masked_norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _masked_input(input, mask, 0, dtype) / ops.maximum(length, ops.full_like(length, eps))


def masked_logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """torch.masked.logaddexp."""
    left = _masked_input(input, input_mask, -float("inf"), dtype)
    right = _masked_input(other, other_mask, -float("inf"), dtype)
    top = ops.maximum(left, right)
    base = ops.where(ops.isfinite(top), top, ops.zeros_like(top))
    return base + ops.log(ops.exp(left - base) + ops.exp(right - base))


def masked_logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """torch.masked.logsumexp."""
    x, axes = _masked_input(input, mask, -float("inf"), dtype), _masked_axes(input, dim)
    if not axes:
        return x
    top = ops.stop_gradient(ops.amax(x, axis=axes, keepdims=True))
    base = ops.where(ops.isfinite(top), top, ops.zeros_like(top))
    total = ops.log(ops.sum(ops.exp(x - base), dim=axes, keepdim=True)) + base
    return total if keepdim else total.squeeze(axes)
