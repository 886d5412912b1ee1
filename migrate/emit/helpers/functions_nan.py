"""Functions whose CPU kernels swallow NaN, for programs that look for it: NaN stays NaN."""

import mindspore
from mindspore import nn, ops

from migrate.emit.helpers.functions_adaptive import adaptive_max_pool2d
from migrate.emit.helpers.functions_pooling import max_pool2d


def relu_with_nan(input):
    """torch's relu."""
    return ops.where(ops.isnan(input), input, ops.relu(input))


def relu6_with_nan(input):
    """torch's relu6."""
    return ops.where(ops.isnan(input), input, ops.relu6(input))


def hardtanh_with_nan(input, min_val=-1.0, max_val=1.0):
    """torch's hardtanh."""
    return clamp_with_nan(input, min_val, max_val)


def clamp_with_nan(input, min=None, max=None):
    """torch's clamp."""
    limited = ops.clamp(input, min, max)
    return ops.where(ops.isnan(input), input, limited) if input.is_floating_point() else limited


def maximum_with_nan(input, other):
    """torch's maximum."""
    return _or_nan(ops.maximum(input, other), input, other)


def minimum_with_nan(input, other):
    """torch's minimum."""
    return _or_nan(ops.minimum(input, other), input, other)


def _or_nan(chosen, input, other):
    if not chosen.is_floating_point():
        return chosen
    total = input + other  # NaN where one of the two is
    return ops.where(ops.logical_or(input != input, other != other), total, chosen)


def _nan_along(input, dim, keepdim):
    """Where a NaN lies along the dimensions, all of them for None and ()."""
    found = ops.isnan(input).astype(mindspore.float32)
    axis = None if dim == () else dim
    if axis is None:
        return found.sum() > 0
    return found.sum(axis, keepdims=keepdim) > 0


def _marked(result, found):
    """NaN where it was found. A sum, and no product: a gradient of 0 times NaN would be NaN."""
    nan = ops.full_like(result, float("nan"))
    return result + ops.where(found, nan, ops.zeros_like(result))


def amax_with_nan(input, dim=(), keepdim=False):
    """torch's amax, and max of a whole tensor."""
    largest = ops.amax(input, dim, keepdim)
    if not input.is_floating_point():
        return largest
    return _marked(largest, _nan_along(input, dim, keepdim))


def amin_with_nan(input, dim=(), keepdim=False):
    """torch's amin, and min of a whole tensor."""
    smallest = ops.amin(input, dim, keepdim)
    if not input.is_floating_point():
        return smallest
    return _marked(smallest, _nan_along(input, dim, keepdim))


def _first_nan(input, dim, keepdim):
    return ops.isnan(input).astype(mindspore.float32).argmax(dim, keepdim)


def argmax_with_nan(input, dim=None, keepdim=False):
    """torch's argmax: the first NaN counts as the largest."""
    place = ops.argmax(input, dim, keepdim)
    if not input.is_floating_point():
        return place
    return ops.where(_nan_along(input, dim, keepdim), _first_nan(input, dim, keepdim), place)


def argmin_with_nan(input, dim=None, keepdim=False):
    """torch's argmin: the first NaN counts as the smallest."""
    return argmax_with_nan(-input, dim, keepdim)


def max_with_nan(input, dim, keepdim=False):
    """torch's max along a dimension."""
    place = argmax_with_nan(input, dim, True)
    values = ops.gather_elements(input, dim, place)
    return (values, place) if keepdim else (values.squeeze(dim), place.squeeze(dim))


def min_with_nan(input, dim, keepdim=False):
    """torch's min along a dimension."""
    place = argmin_with_nan(input, dim, True)
    values = ops.gather_elements(input, dim, place)
    return (values, place) if keepdim else (values.squeeze(dim), place.squeeze(dim))


def max_pool2d_with_nan(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    """torch's max_pool2d."""
    step = kernel_size if stride is None else stride
    pooled = max_pool2d(input, kernel_size, step, padding, dilation, ceil_mode)
    marks = ops.isnan(input).astype(mindspore.float32)
    found = max_pool2d(marks, kernel_size, step, padding, dilation, ceil_mode) > 0
    return _marked(pooled, found)


def adaptive_max_pool2d_with_nan(input, output_size, return_indices=False):
    """torch's adaptive_max_pool2d."""
    pooled = adaptive_max_pool2d(input, output_size, return_indices)
    if return_indices:
        return pooled
    marks = adaptive_max_pool2d(ops.isnan(input).astype(mindspore.float32), output_size)
    return _marked(pooled, marks > 0)


def _last_dimension(input, dim):
    if dim is None:
        return 0 if input.ndim in (0, 1, 3) else 1
    return dim


def _without_number(input, dim):
    """Along the dimension lies a NaN or plus infinity, or all is minus infinity."""
    largest = ops.amax(input, dim, True)
    return ops.logical_or(_nan_along(input, dim, True), ops.isinf(largest))


def softmax_with_nan(input, dim=None, dtype=None):
    """torch's softmax: NaN along the dimension where there is no number, as in a row of which all
    is masked. MindSpore's CPU kernel gives wrong values for all other rows then.
    """
    axis = _last_dimension(input, dim)
    given = input if dtype is None else input.astype(dtype)
    if given.ndim == 0 or given.shape[axis] == 1:
        return given - given + 1
    found = _without_number(given, axis)
    result = ops.softmax(ops.where(found, ops.zeros_like(given), given), axis)
    return _marked(result, found)


def log_softmax_with_nan(input, dim=None, dtype=None):
    """torch's log_softmax: NaN along the dimension where there is no number."""
    axis = _last_dimension(input, dim)
    given = input if dtype is None else input.astype(dtype)
    if given.ndim == 0:
        return given - given
    found = _without_number(given, axis)
    result = ops.log_softmax(ops.where(found, ops.zeros_like(given), given), axis)
    return _marked(result, found)


def logsumexp_with_nan(input, dim, keepdim=False):
    """torch's logsumexp: minus infinity where all is, which MindSpore's makes NaN."""
    largest = ops.amax(input, dim, True)
    infinite = ops.logical_or(ops.isinf(largest), _nan_along(input, dim, True))
    given = ops.where(infinite, ops.zeros_like(input), input)
    total = ops.logsumexp(given, dim, True)
    total = _marked(ops.where(infinite, largest, total), _nan_along(input, dim, True))
    return total if keepdim else total.squeeze(dim)


class SoftmaxWithNaN(nn.Cell):
    """torch's Softmax."""

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def construct(self, input):
        return softmax_with_nan(input, self.dim)


class LogSoftmaxWithNaN(SoftmaxWithNaN):
    """torch's LogSoftmax."""

    def construct(self, input):
        return log_softmax_with_nan(input, self.dim)


class HardtanhWithNaN(nn.Cell):
    """torch's Hardtanh."""

    def __init__(self, min_val=-1.0, max_val=1.0):
        super().__init__()
        self.min_val, self.max_val = min_val, max_val

    def construct(self, x):
        return clamp_with_nan(x, self.min_val, self.max_val)


class MaxPool2dWithNaN(nn.MaxPool2d):
    """torch's MaxPool2d."""

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
        nn.MaxPool2d.__init__(self, kernel_size, kernel_size if stride is None else stride)
        self.window, self.step, self.edges = kernel_size, stride, padding
        self.spread, self.rounded_up = dilation, ceil_mode

    def construct(self, x):
        return max_pool2d_with_nan(
            x, self.window, self.step, self.edges, self.spread, self.rounded_up
        )


class ReLUWithNaN(nn.ReLU):
    """torch's ReLU."""

    def __init__(self, inplace=False):
        nn.ReLU.__init__(self)

    def construct(self, x):
        return relu_with_nan(x)


class ReLU6WithNaN(nn.ReLU6):
    """torch's ReLU6."""

    def __init__(self, inplace=False):
        nn.ReLU6.__init__(self)

    def construct(self, x):
        return relu6_with_nan(x)
