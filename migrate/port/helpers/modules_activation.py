"""Activations that MindSpore lacks, restricts or differentiates wrongly."""

from mindspore import nn, ops


class ELU(nn.Cell):
    """ELU with any alpha; MindSpore's takes 1.0 only."""

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha

    def construct(self, input):
        return ops.where(input > 0, input, self.alpha * ops.expm1(ops.minimum(input, 0.0)))


class SELU(nn.SeLU):
    """SELU from elementary operators; the CPU gradient of MindSpore's is wrong below zero."""

    def __init__(self, inplace=False):
        super().__init__()

    def construct(self, input):
        negative = 1.6732632423543772 * ops.expm1(ops.minimum(input, 0.0))
        return 1.0507009873554805 * ops.where(input > 0, input, negative)


class Softplus(nn.Cell):
    """log(1 + exp(beta x)) / beta, linear beyond the threshold."""

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def construct(self, input):
        scaled = input * self.beta
        soft = ops.log1p(ops.exp(ops.minimum(scaled, self.threshold))) / self.beta
        return ops.where(scaled > self.threshold, input, soft)


def _torch_dim(dim, ndim):
    """torch's choice of the dimension where none is given."""
    if dim is not None:
        return dim
    return 0 if ndim in (0, 1, 3) else 1


class Softmax(nn.Cell):
    """Softmax whose dimension may be left out, as in torch."""

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def construct(self, input):
        return ops.softmax(input, axis=_torch_dim(self.dim, input.ndim))


class Softmin(Softmax):
    """Softmax of the negative."""

    def construct(self, input):
        return ops.softmax(-input, axis=_torch_dim(self.dim, input.ndim))


class LogSoftmax(Softmax):
    """Logarithm of the softmax; the dimension may be left out."""

    def construct(self, input):
        return ops.log_softmax(input, axis=_torch_dim(self.dim, input.ndim))
