"""Reductions and running operations that MindSpore defines differently or not at all."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_decompose import vector_norm
from migrate.emit.helpers.functions_empty import of_nothing


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """torch.norm: the p-norm of all elements, or over `dim`; never a matrix norm but 'nuc'."""
    if dtype is not None:
        input = input.astype(dtype)
    if p == "nuc":
        axes = (-2, -1) if dim is None else tuple(dim)
        return ops.matrix_norm(input, ord="nuc", axis=axes, keepdims=keepdim)
    order = 2 if p is None or p == "fro" else p
    if dim is None:
        flat = vector_norm(input.reshape((-1,)), order)
        return flat.reshape((1,) * input.ndim) if keepdim else flat
    return vector_norm(input, order, dim, keepdim)


def cummax(input, dim):
    """torch's cummax; the values are gathered so that gradients flow."""
    if input.ndim == 0:
        return input, ops.zeros((), mindspore.int64)
    lanes = input.astype(mindspore.int32) if input.dtype == mindspore.bool_ else input
    indices = ops.cummax(ops.stop_gradient(lanes), dim)[1].astype(mindspore.int64)
    return ops.gather_elements(input, dim, indices), indices


def cummin(input, dim):
    """torch's cummin; the values are gathered so that gradients flow."""
    if input.ndim == 0:
        return input, ops.zeros((), mindspore.int64)
    lanes = input.astype(mindspore.int32) if input.dtype == mindspore.bool_ else input
    indices = ops.cummin(ops.stop_gradient(lanes), dim)[1].astype(mindspore.int64)
    return ops.gather_elements(input, dim, indices), indices


def diff(input, n=1, dim=-1, prepend=None, append=None):
    """torch's diff of any order."""
    if n < 0:
        raise ValueError("the order of differences must not be negative")
    if n == 0:
        return input
    axis = dim + input.ndim if dim < 0 else dim
    if prepend is not None:
        input = ops.cat((prepend, input), axis=axis)
    if append is not None:
        input = ops.cat((input, append), axis=axis)
    head = (slice(None),) * axis
    if n >= input.shape[axis]:
        return ops.zeros((*input.shape[:axis], 0, *input.shape[axis + 1 :]), input.dtype)
    for _ in range(n):
        after, before = input[head + (slice(1, None),)], input[head + (slice(None, -1),)]
        input = after != before if input.dtype == mindspore.bool_ else after - before
    return input


def quantile(input, q, dim=None, keepdim=False, interpolation="linear"):
    """torch's quantile, from a sort and an interpolation."""
    shape = input.shape
    dim = None if input.ndim == 0 else dim
    axis = 0 if dim is None else dim
    ordered = ops.sort(input.reshape((-1,)) if dim is None else input, axis=axis)[0]
    ordered = ordered.swapaxes(axis, -1)
    wanted = q if isinstance(q, mindspore.Tensor) else mindspore.Tensor(q, input.dtype)
    position = wanted.reshape((-1,)) * (ordered.shape[-1] - 1)
    low, high = ops.floor(position), ops.ceil(position)
    if interpolation == "lower":
        position = low
    elif interpolation == "higher":
        position = high
    elif interpolation == "midpoint":
        position = (low + high) / 2
    elif interpolation == "nearest":
        position = ops.round(position)
    share = position - low
    below = ops.gather(ordered, low.astype(mindspore.int64), -1)
    above = ops.gather(ordered, high.astype(mindspore.int64), -1)
    result = (below + (above - below) * share).swapaxes(axis, -1)
    if dim is None:
        result = result.reshape((-1,) + (1,) * len(shape) if keepdim else (-1,))
    else:
        result = ops.moveaxis(result, axis, 0)
        result = result.expand_dims(axis + 1 if axis >= 0 else axis) if keepdim else result
    return result.squeeze(0) if wanted.ndim == 0 else result


def nanmean(input, dim=None, keepdim=False, dtype=None):
    """torch's nanmean: the mean of the numbers."""
    x = input if dtype is None else input.astype(dtype)
    if x.ndim == 0:
        return x.copy()
    axes = tuple(range(x.ndim)) if dim is None else dim
    numbers = ops.logical_not(ops.isnan(x))
    total = ops.sum(ops.where(numbers, x, ops.zeros_like(x)), dim=axes, keepdim=keepdim)
    return total / ops.sum(numbers.astype(x.dtype), dim=axes, keepdim=keepdim)


def prod(input, dim=None, keepdim=False, dtype=None):
    """torch's prod; MindSpore's product of nothing is not one."""
    if dim is not None and input.ndim > 0 and input.shape[dim] == 0:
        x = input if dtype is None else input.astype(dtype)
        x = ops.sum(x, dim=dim, keepdim=keepdim)
        return ops.ones(x.shape, x.dtype)
    if dim is None and input.size == 0:
        return ops.ones((), ops.sum(input if dtype is None else input.astype(dtype)).dtype)
    return ops.prod(input, axis=dim, keep_dims=keepdim, dtype=dtype)


def logcumsumexp(input, dim):
    """torch's logcumsumexp, also of single numbers and of nothing."""
    if not -max(input.ndim, 1) <= dim < max(input.ndim, 1):
        raise IndexError("there is no such dimension")
    if input.ndim == 0 or input.size == 0:
        return input.copy()
    return ops.logcumsumexp(input, axis=dim)


def renorm(input, p, dim, maxnorm):
    """torch's renorm: slices whose norm is larger are brought down to it."""
    axes = tuple([i for i in range(input.ndim) if i != dim and i - input.ndim != dim])
    norms = vector_norm(input, p, axes, True)
    long = norms > maxnorm
    factor = maxnorm / (ops.where(long, norms, ops.ones_like(norms)) + 1e-7)
    return ops.where(long, input * factor, input)


def _need_reals(input, name):
    """torch raises where whole numbers would need fractions."""
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(f"{name}: only floating point and complex dtypes, got {input.dtype}")


def mean(input, dim=None, keepdim=False, *, dtype=None):
    """torch's mean, which there is of whole numbers only with a dtype."""
    if dtype is not None:
        input = input.astype(dtype)
    _need_reals(input, "mean")
    return ops.mean(input, axis=dim, keep_dims=keepdim)


def var(input, dim=None, unbiased=True, keepdim=False, *, correction=1):
    """torch's var; the gradient of MindSpore's is NaN where all values are the same."""
    return var_mean(input, dim, correction if unbiased else 0, keepdim)[0]


def std(input, dim=None, unbiased=True, keepdim=False, *, correction=1):
    """torch's std: where all values are the same, its gradient is zero."""
    return std_mean(input, dim, correction if unbiased else 0, keepdim)[0]


def std_mean(input, dim=None, correction=1, keepdim=False):
    """torch's std_mean."""
    variance, mean = var_mean(input, dim, correction, keepdim)
    spread = ops.sqrt(ops.where(variance == 0, ops.ones_like(variance), variance))
    return ops.where(variance == 0, ops.zeros_like(variance), spread), mean


def var_mean(input, dim=None, correction=1, keepdim=False):
    """torch's var_mean, for any correction; MindSpore's takes whole numbers."""
    _need_reals(input, "std and var")
    axes = tuple(range(input.ndim)) if dim is None or dim in ((), []) else dim
    axes = (axes,) if isinstance(axes, int) else tuple(axes)
    axes = axes if input.ndim else ()
    count = 1
    for axis in axes:
        count = count * input.shape[axis]
    mean = ops.mean(input, axis=axes, keep_dims=True) if axes else input
    square = (input - mean) * (input - mean)
    total = ops.sum(square, dim=axes, keepdim=keepdim) if axes else square
    if input.size == 0:
        nothing = of_nothing(total, float("nan"))
        return nothing, nothing
    mean = mean.squeeze(axes) if axes and not keepdim else mean
    return total / max(count - (1 if correction is None else correction), 0), mean


def _as_total(input, dtype):
    """torch adds up and multiplies whole numbers in int64."""
    if dtype is not None:
        return input.astype(dtype)
    if input.is_floating_point() or input.is_complex():
        return input
    return input.astype(mindspore.int64)


def cumsum(input, dim, dtype=None):
    """torch's cumsum: int64 of whole numbers; of a single number and of nothing it is the same."""
    x = _as_total(input, dtype)
    return x if x.ndim == 0 or x.size == 0 else ops.cumsum(x, dim)


def cumprod(input, dim, dtype=None):
    """torch's cumprod by doubling; MindSpore's gradient divides by the elements, zeros included."""
    x = _as_total(input, dtype)
    if x.ndim == 0:
        return x
    x = x.swapaxes(dim, -1)
    step = 1
    while step < x.shape[-1]:
        earlier = ops.cat((ops.ones_like(x[..., :step]), x[..., :-step]), axis=-1)
        x = x * earlier
        step = step * 2
    return x.swapaxes(dim, -1)


def trapezoid(y, x=None, dx=1.0, dim=-1):
    """torch's trapezoid rule."""
    return ops.sum(_trapezoid_areas(y, x, dx, dim), dim=dim)


def cumulative_trapezoid(y, x=None, dx=1.0, dim=-1):
    """torch's running trapezoid rule."""
    return ops.cumsum(_trapezoid_areas(y, x, dx, dim), dim)


def _trapezoid_areas(y, x, dx, dim):
    """The area between each two neighbours."""
    axis = dim + y.ndim if dim < 0 else dim
    head = (slice(None),) * axis
    mean = (y[head + (slice(1, None),)] + y[head + (slice(None, -1),)]) / 2
    if x is None:
        return mean * (1.0 if dx is None else dx)
    if x.ndim == 1:
        return mean * (x[1:] - x[:-1]).reshape((-1,) + (1,) * (y.ndim - axis - 1))
    return mean * diff(x, 1, dim)


def cdist(x1, x2, p=2.0, compute_mode=None):
    """torch's cdist for any p and any number of dimensions."""
    if x1.size == 0 or x2.size == 0:
        return ops.sum(x1.expand_dims(-2) * 0 + x2.expand_dims(-3) * 0, dim=-1)
    return vector_norm(x1.expand_dims(-2) - x2.expand_dims(-3), p, -1)
