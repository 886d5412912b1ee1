"""Distances, similarities and dropouts that MindSpore has no layer for."""

from mindspore import nn

from migrate.emit.helpers.functions_activation import alpha_dropout, feature_alpha_dropout
from migrate.emit.helpers.functions_loss import cosine_similarity, pairwise_distance


class CosineSimilarity(nn.Cell):
    """Cosine of the angle along one axis."""

    def __init__(self, dim=1, eps=1e-08):
        super().__init__()
        self.dim = dim
        self.eps = eps

    def construct(self, x1, x2):
        return cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(nn.Cell):
    """p-norm of the difference along the last axis."""

    def __init__(self, p=2.0, eps=1e-06, keepdim=False):
        super().__init__()
        self.p = p
        self.eps = eps
        self.keepdim = keepdim

    def construct(self, x1, x2):
        return pairwise_distance(x1, x2, self.p, self.eps, self.keepdim)


class AlphaDropout(nn.Cell):
    """Dropout to SELU's floor that keeps mean and variance."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        self.p = p

    def construct(self, input):
        return alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(AlphaDropout):
    """AlphaDropout of whole channels."""

    def construct(self, input):
        return feature_alpha_dropout(input, self.p, self.training)
