"""Normalisation layers that MindSpore has no CPU kernel for."""

import mindspore
from mindspore import Parameter, nn, ops

from migrate.emit.helpers.functions_norm import instance_norm, local_response_norm, rms_norm


class RMSNorm(nn.Cell):
    """Divides by the root of the mean square over the last axes."""

    def __init__(
        self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None
    ):
        super().__init__()
        self.normalized_shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        self.eps = eps
        self.weight = None
        if elementwise_affine:
            self.weight = Parameter(ops.ones(self.normalized_shape, dtype or mindspore.float32))

    def construct(self, x):
        return rms_norm(x, self.normalized_shape, self.weight, self.eps)


class _InstanceNorm(nn.Cell):
    """Normalises every channel of every sample by itself; running statistics on request."""

    spatial = 0

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
        self.running_mean = self.running_var = None
        if track_running_stats:
            self.running_mean = Parameter(ops.zeros(num_features, dtype), requires_grad=False)
            self.running_var = Parameter(ops.ones(num_features, dtype), requires_grad=False)

    def construct(self, input):
        batched = input.ndim == self.spatial + 2
        output = instance_norm(
            input if batched else input.expand_dims(0),
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum,
            self.eps,
        )
        return output if batched else output.squeeze(0)


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
        return local_response_norm(input, self.size, self.alpha, self.beta, self.k)
