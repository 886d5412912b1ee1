"""Elementwise functions whose own kernels an Ascend lacks or has on slow cores only, written with
operators that it has: choices between tensors, and logit.
"""

from mindspore import ops


def fmax(input, other):
    """torch's fmax: the larger of the two, and the number where one is NaN."""
    return ops.where(ops.logical_or(input >= other, other != other), input, other)


def fmin(input, other):
    """torch's fmin: the smaller of the two, and the number where one is NaN."""
    return ops.where(ops.logical_or(input <= other, other != other), input, other)


def heaviside(input, values):
    """torch's heaviside: 0, values or 1 as the input is below, at or above 0."""
    return ops.where(input == 0, values, (input > 0).astype(input.dtype))


def logit(input, eps=None):
    """torch's logit: the inverse of sigmoid, of the input kept within eps of 0 and 1."""
    kept = input if eps is None else ops.clamp(input, eps, 1 - eps)
    return ops.log(kept / (1 - kept))
