"""Normalisation layers that MindSpore has no CPU kernel for, from elementary operators."""

import mindspore
import numpy as np
from mindspore import Parameter, nn, ops


class RMSNorm(nn.Cell):
    """Divides by the root of the mean square over the last axes."""

    def __init__(
        self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None
    ):
        super().__init__()
        self.normalized_shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        self.axes = tuple(range(-len(self.normalized_shape), 0))
        self.eps = float(np.finfo(np.float32).eps) if eps is None else eps
        self.weight = None
        if elementwise_affine:
            self.weight = Parameter(ops.ones(self.normalized_shape, dtype or mindspore.float32))

    def construct(self, x):
        x = x * ops.rsqrt(ops.square(x).mean(self.axes, keep_dims=True) + self.eps)
        return x if self.weight is None else x * self.weight


class _InstanceNorm(nn.Cell):
    """Normalises every channel of every sample by itself; running statistics on request."""

    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__()
        dtype = dtype or mindspore.float32
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.weight = Parameter(ops.ones(num_features, dtype)) if affine else None
        self.bias = Parameter(ops.zeros(num_features, dtype)) if affine and bias else None
        if track_running_stats:
            self.running_mean = Parameter(ops.zeros(num_features, dtype), requires_grad=False)
            self.running_var = Parameter(ops.ones(num_features, dtype), requires_grad=False)

    def construct(self, input):
        batched = input.ndim == self.spatial + 2
        x = input if batched else input.expand_dims(0)
        axes = tuple(range(2, x.ndim))
        per_channel = (1, self.num_features) + (1,) * self.spatial
        if self.training or not self.track_running_stats:
            mean = x.mean(axes, keep_dims=True)
            var = ops.square(x - mean).mean(axes, keep_dims=True)
        else:
            mean = self.running_mean.reshape(per_channel)
            var = self.running_var.reshape(per_channel)
        if self.training and self.track_running_stats:
            count = x.size / (x.shape[0] * x.shape[1])
            unbiased = var.mean(0).reshape(-1) * (count / (count - 1))
            kept = 1 - self.momentum
            ops.assign(
                self.running_mean,
                self.running_mean * kept + self.momentum * mean.mean(0).reshape(-1),
            )
            ops.assign(self.running_var, self.running_var * kept + self.momentum * unbiased)
        x = (x - mean) * ops.rsqrt(var + self.eps)
        if self.weight is not None:
            x = x * self.weight.reshape(per_channel)
        if self.bias is not None:
            x = x + self.bias.reshape(per_channel)
        return x if batched else x.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation over one axis."""

    spatial = 1


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation over two axes."""

    spatial = 2


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation over three axes."""

    spatial = 3


class LocalResponseNorm(nn.Cell):
    """Divides by the mean square of the neighbouring channels; zeros beyond the first and last."""

    def __init__(self, size, alpha=0.0001, beta=0.75, k=1.0):
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def construct(self, input):
        edges = (0, 0) * (input.ndim - 2) + (self.size // 2, (self.size - 1) // 2)
        squares = ops.pad(ops.square(input), edges)
        channels = input.shape[1]
        total = squares[:, :channels]
        for shift in range(1, self.size):
            total = total + squares[:, shift : shift + channels]
        return input / ops.pow(total * (self.alpha / self.size) + self.k, self.beta)


class CrossMapLRN2d(nn.Cell):
    """LocalResponseNorm as old Caffe networks have it: the odd channel of an even size comes last."""

    def __init__(self, size, alpha=0.0001, beta=0.75, k=1):
        super().__init__()
        self.norm = LocalResponseNorm(size, alpha, beta, k)

    def construct(self, input):
        return self.norm(input)
