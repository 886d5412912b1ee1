"""Window functions, from their formulas: MindSpore's kernels are few."""

import math

import mindspore
from mindspore import ops


def _window_phase(window_length, periodic, dtype):
    """Positions from 0 to 1 (periodic: one step before 1)."""
    steps = window_length if periodic else max(window_length - 1, 1)
    dtype = mindspore.float32 if dtype is None else dtype
    return ops.arange(window_length).astype(dtype) / steps


def bartlett_window(window_length, periodic=True, dtype=None):
    """torch's bartlett_window."""
    if window_length == 1:
        return ops.ones((1,), mindspore.float32 if dtype is None else dtype)
    return 1 - ops.abs(2 * _window_phase(window_length, periodic, dtype) - 1)


def blackman_window(window_length, periodic=True, dtype=None):
    """torch's blackman_window."""
    return _cosine_sum(window_length, periodic, dtype, (0.42, 0.5, 0.08))


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, dtype=None):
    """torch's hamming_window."""
    return _cosine_sum(window_length, periodic, dtype, (alpha, beta))


def hann_window(window_length, periodic=True, dtype=None):
    """torch's hann_window."""
    return _cosine_sum(window_length, periodic, dtype, (0.5, 0.5))


def _cosine_sum(window_length, periodic, dtype, weights):
    """Cosines with alternating signs; a single sample is one."""
    if window_length == 1:
        return ops.ones((1,), mindspore.float32 if dtype is None else dtype)
    phase = _window_phase(window_length, periodic, dtype)
    total = weights[0] * ops.ones_like(phase)
    for k in range(1, len(weights)):
        total = total + (-1) ** k * weights[k] * ops.cos(2 * math.pi * k * phase)
    return total


def kaiser_window(window_length, periodic=True, beta=12.0, dtype=None):
    """torch's kaiser_window."""
    if window_length == 1:
        return ops.ones((1,), mindspore.float32 if dtype is None else dtype)
    centred = 2 * _window_phase(window_length, periodic, dtype) - 1
    inside = beta * ops.sqrt(ops.clamp(1 - centred * centred, min=0))
    return ops.i0(inside) / ops.i0(beta * ops.ones_like(inside))
