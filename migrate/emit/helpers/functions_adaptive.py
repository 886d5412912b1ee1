"""torch's adaptive pooling for every size, on every device."""

import mindspore
import numpy as np
from mindspore import Tensor, ops


@ops.constexpr
def _adaptive_matrix(size_in, size_out):
    """The averages over one axis as a constant matrix of shape (in, out)."""
    matrix = np.zeros((size_in, size_out), np.float32)
    for i in range(size_out):
        first, last = i * size_in // size_out, -(-(i + 1) * size_in // size_out)
        matrix[first:last, i] = 1.0 / (last - first)
    return Tensor(matrix)


def adaptive_avg_pool1d(input, output_size):
    """torch's adaptive_avg_pool1d; MindSpore's needs a size that divides."""
    size = output_size if isinstance(output_size, int) else output_size[0]
    return ops.matmul(input, _adaptive_matrix(input.shape[-1], size).astype(input.dtype))


@ops.constexpr
def _adaptive_windows(size_in, size_out):
    """Input positions of every window, the last one repeated to equal length."""
    first = [i * size_in // size_out for i in range(size_out)]
    last = [-(-(i + 1) * size_in // size_out) for i in range(size_out)]
    longest = max(b - a for a, b in zip(first, last, strict=False))
    rows = [[min(a + k, b - 1) for k in range(longest)] for a, b in zip(first, last, strict=False)]
    return Tensor(np.array(rows, np.int64)), longest


def _adaptive_max(input, sizes, ndim):
    """Maximum and flat position of every window, one axis after the other."""
    values = input
    positions = None
    for axis in range(-ndim, 0):
        size = values.shape[axis] if sizes[axis] is None else sizes[axis]
        windows, longest = _adaptive_windows(input.shape[axis], size)
        picked = ops.gather(values.swapaxes(axis, -1), windows.reshape((-1,)), -1)
        picked = picked.reshape((*picked.shape[:-1], size, longest))
        best = ops.argmax(picked, dim=-1, keepdim=True)
        values = ops.gather_elements(picked, -1, best).squeeze(-1).swapaxes(axis, -1)
        here = ops.gather_elements(windows.broadcast_to(picked.shape), -1, best)
        here = here.squeeze(-1).swapaxes(axis, -1)
        if positions is not None:
            earlier = ops.gather(positions.swapaxes(axis, -1), windows.reshape((-1,)), -1)
            earlier = ops.gather_elements(earlier.reshape(picked.shape), -1, best)
            here = earlier.squeeze(-1).swapaxes(axis, -1) * input.shape[axis] + here
        positions = here
    return values, positions.astype(mindspore.int64)


def _adaptive_sizes(output_size, ndim):
    """One size for every axis; None keeps the axis."""
    if output_size is None or isinstance(output_size, int):
        return (output_size,) * ndim
    return tuple(output_size) * ndim if len(output_size) == 1 else tuple(output_size)


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """torch's adaptive_max_pool1d."""
    values, positions = _adaptive_max(input, _adaptive_sizes(output_size, 1), 1)
    return (values, positions) if return_indices else values


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """torch's adaptive_max_pool2d."""
    values, positions = _adaptive_max(input, _adaptive_sizes(output_size, 2), 2)
    return (values, positions) if return_indices else values


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """torch's adaptive_max_pool3d."""
    values, positions = _adaptive_max(input, _adaptive_sizes(output_size, 3), 3)
    return (values, positions) if return_indices else values


def _adaptive_avg(input, sizes, ndim):
    """Averages as products with constant matrices, one axis after the other: MindSpore's own
    operators run on Ascend's AI CPU.
    """
    if input.size == 0:
        shape = ()
        for axis in range(-ndim, 0):
            shape += (input.shape[axis] if sizes[axis] is None else sizes[axis],)
        return ops.zeros(input.shape[:-ndim] + shape, input.dtype)
    for axis in range(-ndim, 0):
        if sizes[axis] is not None and sizes[axis] != input.shape[axis]:
            moved = adaptive_avg_pool1d(input.swapaxes(axis, -1), sizes[axis])
            input = moved.swapaxes(axis, -1)
    return input


def adaptive_avg_pool2d(input, output_size):
    """torch's adaptive_avg_pool2d."""
    return _adaptive_avg(input, _adaptive_sizes(output_size, 2), 2)


def adaptive_avg_pool3d(input, output_size):
    """torch's adaptive_avg_pool3d."""
    return _adaptive_avg(input, _adaptive_sizes(output_size, 3), 3)
