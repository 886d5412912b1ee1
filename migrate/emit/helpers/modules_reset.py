"""reset_parameters: where torch's layers draw their first values; derived classes override it."""

import math

from mindspore import ops
from mindspore.common.initializer import HeUniform, Normal, Uniform, initializer

_FIRST_VALUES = {
    "gamma": "ones",
    "moving_variance": "ones",
    "beta": "zeros",
    "moving_mean": "zeros",
}


def reset_parameters(layer):
    """Draw a layer's parameters anew, as torch does; also for super() in a derived class."""
    if hasattr(type(layer), "reset_parameters"):
        layer.reset_parameters()
        return
    layer = getattr(layer, "__self__", layer)
    for name, parameter in layer.parameters_and_names():
        name = name.rpartition(".")[2]
        kind = _FIRST_VALUES.get(name)
        if name == "weight":
            kind = HeUniform(math.sqrt(5))
        elif name == "bias":
            kind = Uniform(1 / math.sqrt(max(math.prod(layer.weight.shape[1:]), 1)))
        elif name == "embedding_table":
            kind = Normal(1.0)
        if kind is not None:
            # Not set_data: optimizers and compiled steps would go on with the old memory.
            value = initializer(kind, parameter.shape, parameter.dtype).init_data()
            ops.assign(parameter, value)


def own_reset(layer):
    """What the constructors of torch's layers end with: a derived class may draw other values."""
    if hasattr(type(layer), "reset_parameters"):
        layer.reset_parameters()
