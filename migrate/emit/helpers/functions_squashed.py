"""tanh for programs that compute 1 - y ** 2 of it."""

import mindspore
from mindspore import ops

_ON_CPU = mindspore.get_context("device_target") == "CPU"


def tanh_below_one(input):
    """torch's tanh. MindSpore's CPU kernel is off by 1e-4 near 5 in float32, and exceeds 1."""
    if _ON_CPU and input.dtype == mindspore.float32:
        return ops.tanh(input.astype(mindspore.float64)).astype(mindspore.float32)
    return ops.tanh(input)
