"""Regularisers of torchvision.ops that drop whole branches or blocks."""

import math

from mindspore import nn, ops

from migrate.emit.helpers.functions_constant_pad import constant_pad


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


def _drop_block(input, p, block_size, eps, training, ndim):
    """Zero random blocks: every dropped centre takes its neighbourhood with it."""
    if input.ndim != ndim + 2:
        raise ValueError(f"input has {input.ndim} dimensions, expected {ndim + 2}")
    if not training or p == 0.0:
        return input
    sizes = input.shape[2:]
    block_size = min(block_size, *sizes)
    if block_size % 2 == 0:
        raise ValueError(f"block_size is {block_size}, expected an odd number")
    half = block_size // 2
    inner = tuple(size - block_size + 1 for size in sizes)
    rate = p * math.prod(sizes) / (block_size**ndim * math.prod(inner))
    centres = (ops.rand(*input.shape[:2], *inner) < rate).astype(input.dtype)
    centres = constant_pad(centres, (half,) * (2 * ndim))
    pool = ops.max_pool2d if ndim == 2 else ops.max_pool3d
    keep = 1 - pool(centres, block_size, 1, half)
    return input * keep * (keep.size / (eps + keep.sum()))


def drop_block2d(input, p, block_size, inplace=False, eps=1e-06, training=True):
    """Zero random squares of a feature map and scale up the rest."""
    return _drop_block(input, p, block_size, eps, training, 2)


def drop_block3d(input, p, block_size, inplace=False, eps=1e-06, training=True):
    """Zero random cubes of a feature map and scale up the rest."""
    return _drop_block(input, p, block_size, eps, training, 3)


class DropBlock2d(nn.Cell):
    """drop_block2d as a layer."""

    def __init__(self, p, block_size, inplace=False, eps=1e-06):
        super().__init__()
        self.p = p
        self.block_size = block_size
        self.eps = eps

    def construct(self, input):
        return _drop_block(input, self.p, self.block_size, self.eps, self.training, 2)


class DropBlock3d(nn.Cell):
    """drop_block3d as a layer."""

    def __init__(self, p, block_size, inplace=False, eps=1e-06):
        super().__init__()
        self.p = p
        self.block_size = block_size
        self.eps = eps

    def construct(self, input):
        return _drop_block(input, self.p, self.block_size, self.eps, self.training, 3)
