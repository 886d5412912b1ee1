"""Global average pooling as a Cell: programs list, hook and replace the children of a network, and
an operator is no child.
"""

from mindspore import nn, ops


class GlobalAvgPool1d(nn.AdaptiveAvgPool1d):
    """The mean over the last axis, kept as an axis of size 1."""

    def __init__(self):
        super().__init__(1)
        self.mean = ops.ReduceMean(keep_dims=True)

    def construct(self, x):
        return self.mean(x, -1)


class GlobalAvgPool2d(nn.AdaptiveAvgPool2d):
    """The mean over the last two axes, kept as axes of size 1."""

    def __init__(self):
        super().__init__(1)
        self.mean = ops.ReduceMean(keep_dims=True)

    def construct(self, x):
        return self.mean(x, (-2, -1))


class GlobalAvgPool3d(nn.AdaptiveAvgPool3d):
    """The mean over the last three axes, kept as axes of size 1."""

    def __init__(self):
        super().__init__(1)
        self.mean = ops.ReduceMean(keep_dims=True)

    def construct(self, x):
        return self.mean(x, (-3, -2, -1))
