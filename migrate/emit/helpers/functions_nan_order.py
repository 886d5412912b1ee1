"""More functions that swallow NaN on CPU, for programs that look for it: activations with a branch,
and everything that sorts. torch takes NaN for the largest value.
"""

from mindspore import ops

from migrate.emit.helpers.functions_index import kthvalue, sort, topk
from migrate.emit.helpers.functions_nan import _marked, _nan_along, max_pool2d_with_nan


def _kept(input, result):
    return ops.where(ops.isnan(input), input, result)


def softplus_with_nan(input, beta=1, threshold=20):
    """torch's softplus."""
    return _kept(input, ops.softplus(input, beta, threshold))


def hardshrink_with_nan(input, lambd=0.5):
    """torch's hardshrink."""
    return _kept(input, ops.hardshrink(input, lambd))


def softshrink_with_nan(input, lambd=0.5):
    """torch's softshrink."""
    return _kept(input, ops.softshrink(input, lambd))


def threshold_with_nan(input, threshold, value):
    """torch's threshold."""
    return _kept(input, ops.threshold(input, threshold, value))


def _ordered(input):
    """What can be sorted: NaN as the largest number."""
    if not input.is_floating_point():
        return input
    return ops.where(ops.isnan(input), ops.full_like(input, float("inf")), input)


def sort_with_nan(input, dim=-1, descending=False, stable=False):
    """torch's sort: NaN comes last, or first where the order descends."""
    values, indices = sort(_ordered(input), dim, descending, stable)
    if input.ndim == 0 or not input.is_floating_point():
        return values, indices
    return ops.gather_elements(input, dim, indices), indices


def argsort_with_nan(input, dim=-1, descending=False, stable=False):
    """torch's argsort."""
    return sort_with_nan(input, dim, descending, stable)[1]


def topk_with_nan(input, k, dim=-1, largest=True, sorted=True):
    """torch's topk."""
    values, indices = topk(_ordered(input), k, dim, largest, sorted)
    if input.ndim == 0 or not input.is_floating_point():
        return values, indices
    return ops.gather_elements(input, dim, indices), indices


def median_with_nan(input, dim=None, keepdim=False):
    """torch's median: NaN where one lies along the dimension."""
    if dim is None:
        flat = input.reshape((-1,))
        middle = kthvalue(_ordered(flat), (flat.shape[0] + 1) // 2, 0)[0]
        real = input.is_floating_point()
        return _marked(middle, _nan_along(flat, None, False)) if real else middle
    size = input.shape[dim] if input.ndim > 0 else 1
    values, indices = kthvalue(_ordered(input), (size + 1) // 2, dim, keepdim)
    if input.ndim == 0 or not input.is_floating_point():
        return values, indices
    return _marked(values, _nan_along(input, dim, keepdim)), indices


def max_pool1d_with_nan(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    """torch's max_pool1d, as max_pool2d over a row."""
    kernel_size, stride, padding, dilation = (
        value[0] if isinstance(value, (tuple, list)) else value
        for value in (kernel_size, stride, padding, dilation)
    )
    stride = kernel_size if stride is None else stride
    rows = input.expand_dims(-2)
    sizes = (1, kernel_size), (1, stride), (0, padding), (1, dilation)
    return max_pool2d_with_nan(rows, *sizes, ceil_mode).squeeze(-2)
