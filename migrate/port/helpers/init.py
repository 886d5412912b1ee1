"""Initialisers that MindSpore does not have in torch's form."""

import math

from mindspore import Tensor
from mindspore.common.initializer import Uniform, initializer


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps a layer's variance through its nonlinearity."""
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    linear = ("linear", "conv1d", "conv2d", "conv3d", "sigmoid")
    linear += ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
    if nonlinearity in linear:
        return 1
    if nonlinearity not in gains:
        raise ValueError(f"no gain is known for {nonlinearity!r}")
    return gains[nonlinearity]


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Fill a parameter from U(a, b); MindSpore's Uniform is centred on zero."""
    centred = initializer(Uniform((b - a) / 2), tensor.shape, tensor.dtype).init_data()
    return tensor.set_data(Tensor(centred.asnumpy() + (a + b) / 2, tensor.dtype))
