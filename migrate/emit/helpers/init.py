"""torch.nn.init as functions: for tensors that are no Parameter, and initialisers passed on."""

import math

from mindspore import Parameter, Tensor, ops
from mindspore.common.initializer import (
    Dirac,
    HeNormal,
    HeUniform,
    Normal,
    Orthogonal,
    Sparse,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
    initializer,
)


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


def fan_in_and_fan_out(tensor):
    """How many inputs make one output of a layer with this weight, and the other way round."""
    if tensor.ndim < 2:
        raise ValueError("a fan needs a weight of at least two dimensions")
    outputs, inputs, *kernel = tensor.shape
    return inputs * math.prod(kernel), outputs * math.prod(kernel)


def correct_fan(tensor, mode):
    """The fan that the mode names."""
    return fan_in_and_fan_out(tensor)[("fan_in", "fan_out").index(mode.lower())]


def _filled(tensor, kind, shift=0.0):
    """A Parameter gets new values (assigned: after a set_data, optimizers and compiled steps go on
    with the old memory); for any other tensor the result is the new tensor.
    """
    value = initializer(kind, tensor.shape, tensor.dtype).init_data()
    if shift:
        value = Tensor(value.asnumpy() + shift, tensor.dtype)
    if not isinstance(tensor, Parameter):
        return value
    ops.assign(tensor, value)
    return tensor


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Fill from U(a, b); MindSpore's Uniform is centred on zero."""
    return _filled(tensor, Uniform((b - a) / 2), (a + b) / 2)


def constant_(tensor, val):
    """Fill with one value."""
    return _filled(tensor, val)


def zeros_(tensor):
    """Fill with zeros."""
    return _filled(tensor, "zeros")


def ones_(tensor):
    """Fill with ones."""
    return _filled(tensor, "ones")


def eye_(tensor):
    """Make the identity matrix."""
    return _filled(tensor, "identity")


def dirac_(tensor, groups=1):
    """Make a convolution that keeps its input."""
    return _filled(tensor, Dirac(groups))


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Fill from N(mean, std)."""
    return _filled(tensor, Normal(sigma=std, mean=mean))


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Fill from N(mean, std), cut off at a and b."""
    return _filled(tensor, TruncatedNormal(sigma=std, mean=mean, a=a, b=b))


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fill as He and others do for rectifiers, from a normal distribution."""
    return _filled(tensor, HeNormal(negative_slope=a, mode=mode, nonlinearity=nonlinearity))


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Fill as He and others do for rectifiers, from a uniform distribution."""
    return _filled(tensor, HeUniform(negative_slope=a, mode=mode, nonlinearity=nonlinearity))


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Fill as Glorot and Bengio do, from a normal distribution."""
    return _filled(tensor, XavierNormal(gain))


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Fill as Glorot and Bengio do, from a uniform distribution."""
    return _filled(tensor, XavierUniform(gain))


def orthogonal_(tensor, gain=1, generator=None):
    """Fill with an orthogonal matrix."""
    return _filled(tensor, Orthogonal(gain))


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Fill from N(0, std), each column with a share of zeros."""
    return _filled(tensor, Sparse(sparsity, sigma=std))
