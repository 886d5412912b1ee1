"""Activations that MindSpore lacks, restricts or differentiates wrongly."""

from mindspore import nn, ops

from migrate.emit.helpers.functions_activation import (
    dropout1d,
    dropout3d,
    elu,
    leaky_relu,
    log_softmax,
    mish,
    rrelu,
    selu,
    softmax,
    softmin,
)


class Dropout1d(nn.Cell):
    """Dropout of whole channels; nn.Dropout1d runs on an Ascend's AI CPU."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        self.p = p

    def construct(self, input):
        return dropout1d(input, self.p, self.training)


class Dropout3d(nn.Cell):
    """Dropout of whole channels; nn.Dropout3d runs on an Ascend's AI CPU."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        self.p = p

    def construct(self, input):
        return dropout3d(input, self.p, self.training)


class ELU(nn.Cell):
    """ELU with any alpha; MindSpore's takes 1.0 only."""

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha

    def construct(self, input):
        return elu(input, self.alpha)


class LeakyReLU(nn.LeakyReLU):
    """LeakyReLU whose gradient at 0 is the lower slope, as in torch."""

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__(alpha=negative_slope)

    def construct(self, input):
        return leaky_relu(input, self.alpha)


class Mish(nn.Cell):
    """Mish that stays finite, from elementary operators."""

    def __init__(self, inplace=False):
        super().__init__()

    def construct(self, input):
        return mish(input)


class SELU(nn.SeLU):
    """SELU from elementary operators; the CPU gradient of MindSpore's is wrong below zero."""

    def __init__(self, inplace=False):
        super().__init__()

    def construct(self, input):
        return selu(input)


class Softplus(nn.Cell):
    """log(1 + exp(beta x)) / beta, linear beyond the threshold."""

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def construct(self, input):
        scaled = input * self.beta
        linear = scaled > self.threshold
        curved = ops.where(linear, ops.zeros_like(scaled), scaled)  # ops.minimum would lose NaN
        return ops.where(linear, input, ops.log1p(ops.exp(curved)) / self.beta)


class RReLU(nn.Cell):
    """Leaky ReLU with a random slope in training and the middle one in evaluation."""

    def __init__(self, lower=0.125, upper=0.3333333333333333, inplace=False):
        super().__init__()
        self.lower = lower
        self.upper = upper

    def construct(self, input):
        return rrelu(input, self.lower, self.upper, self.training)


class Softmax(nn.Cell):
    """Softmax whose dimension may be left out, as in torch."""

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def construct(self, input):
        return softmax(input, self.dim)


class Softmin(Softmax):
    """Softmax of the negative."""

    def construct(self, input):
        return softmin(input, self.dim)


class LogSoftmax(Softmax):
    """Logarithm of the softmax; the dimension may be left out."""

    def construct(self, input):
        return log_softmax(input, self.dim)
