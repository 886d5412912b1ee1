"""Global average pooling as a Cell of its own, for places where only Cells can stand."""

from mindspore import nn, ops


class GlobalAvgPool1d(nn.Cell):
    """The mean over the last axis, kept as an axis of size 1."""

    def construct(self, x):
        return ops.mean(x, -1, keep_dims=True)


class GlobalAvgPool2d(nn.Cell):
    """The mean over the last two axes, kept as axes of size 1."""

    def construct(self, x):
        return ops.mean(x, (-2, -1), keep_dims=True)


class GlobalAvgPool3d(nn.Cell):
    """The mean over the last three axes, kept as axes of size 1."""

    def construct(self, x):
        return ops.mean(x, (-3, -2, -1), keep_dims=True)
