"""Distances, similarities and dropouts that MindSpore has no layer for."""

from mindspore import nn, ops


class CosineSimilarity(nn.Cell):
    """Cosine of the angle along one axis."""

    def __init__(self, dim=1, eps=1e-08):
        super().__init__()
        self.dim = dim
        self.eps = eps

    def construct(self, x1, x2):
        dot = (x1 * x2).sum(self.dim)
        squared = ops.square(x1).sum(self.dim), ops.square(x2).sum(self.dim)
        floor = self.eps * self.eps
        return dot * ops.rsqrt(ops.maximum(squared[0], floor) * ops.maximum(squared[1], floor))


class PairwiseDistance(nn.Cell):
    """p-norm of the difference along the last axis."""

    def __init__(self, p=2.0, eps=1e-06, keepdim=False):
        super().__init__()
        self.p = p
        self.eps = eps
        self.keepdim = keepdim

    def construct(self, x1, x2):
        difference = ops.abs(x1 - x2 + self.eps)
        if self.p == float("inf"):
            return ops.amax(difference, -1, keepdims=self.keepdim)
        total = ops.pow(difference, self.p).sum(-1, keepdims=self.keepdim)
        return ops.pow(total, 1 / self.p)


class AlphaDropout(nn.Cell):
    """Dropout to SELU's floor that keeps mean and variance."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        self.p = p

    def _kept(self, input):
        return ops.dropout(ops.ones_like(input), self.p, training=True) > 0

    def construct(self, input):
        if not self.training or self.p == 0:
            return input
        floor = -1.7580993408473766
        scale = ((1 - self.p) * (1 + self.p * floor * floor)) ** -0.5
        kept = ops.where(self._kept(input), input, floor)
        return scale * kept - scale * self.p * floor


class FeatureAlphaDropout(AlphaDropout):
    """AlphaDropout of whole channels."""

    def _kept(self, input):
        channels = input.shape[:2] + (1,) * (input.ndim - 2)
        return ops.dropout(ops.ones(channels, input.dtype), self.p, training=True) > 0
