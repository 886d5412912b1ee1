"""Regularisers of torchvision.ops that drop whole branches or blocks."""

from mindspore import nn, ops


def stochastic_depth(input, p, mode, training=True):
    """Drop the whole input ("batch") or some of its rows ("row") and scale up what stays."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"p is a probability, got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"mode is 'batch' or 'row', got {mode}")
    if not training or p == 0.0:
        return input
    if p == 1.0:
        return input * 0
    rows = input.shape[0] if mode == "row" else 1
    ones = ops.ones((rows,) + (1,) * (input.ndim - 1), input.dtype)
    return input * ops.dropout(ones, p=p, training=True)


class StochasticDepth(nn.Cell):
    """stochastic_depth as a layer."""

    def __init__(self, p, mode):
        super().__init__()
        self.p = p
        self.mode = mode

    def construct(self, input):
        return stochastic_depth(input, self.p, self.mode, self.training)
