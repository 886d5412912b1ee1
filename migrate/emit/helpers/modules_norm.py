"""Normalisation layers with torch's constructors and torch's statistics."""

import mindspore
from mindspore import Parameter, Tensor, nn, ops

from migrate.emit.helpers.functions_norm import batch_norm, group_norm
from migrate.emit.helpers.modules_parameter_names import mark_absent


def _kept_share(momentum):
    """torch states the weight of the new batch, MindSpore that of the running value."""
    if momentum is None:
        raise NotImplementedError(
            "momentum=None, a cumulative average, has no counterpart in MindSpore"
        )
    return 1 - momentum


def _mark_settings(norm, affine, bias, track_running_stats):
    """torch's layer has only the parameters that its settings ask for."""
    mark_absent([norm.gamma], not affine)
    mark_absent([norm.beta], not (affine and bias))
    mark_absent([norm.moving_mean, norm.moving_variance], not track_running_stats)


class BatchNorm1d(nn.BatchNorm1d):
    """nn.BatchNorm1d with torch's arguments."""

    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(
            num_features,
            eps=eps,
            momentum=_kept_share(momentum),
            affine=affine,
            use_batch_statistics=None if track_running_stats else True,
            dtype=dtype or mindspore.float32,
        )
        self.beta.requires_grad = affine and bias
        _mark_settings(self, affine, bias, track_running_stats)


class BatchNorm2d(nn.BatchNorm2d):
    """nn.BatchNorm2d with torch's arguments."""

    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(
            num_features,
            eps=eps,
            momentum=_kept_share(momentum),
            affine=affine,
            use_batch_statistics=None if track_running_stats else True,
            dtype=dtype or mindspore.float32,
        )
        self.beta.requires_grad = affine and bias
        _mark_settings(self, affine, bias, track_running_stats)


class BatchNorm3d(nn.BatchNorm3d):
    """nn.BatchNorm3d with torch's arguments."""

    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(
            num_features,
            eps=eps,
            momentum=_kept_share(momentum),
            affine=affine,
            use_batch_statistics=None if track_running_stats else True,
            dtype=dtype or mindspore.float32,
        )
        self.bn2d.beta.requires_grad = affine and bias
        _mark_settings(self.bn2d, affine, bias, track_running_stats)


def batch_counter():
    """torch's num_batches_tracked, which MindSpore's layers do not have."""
    zero = Tensor(0, mindspore.int64)
    return Parameter(zero, name="num_batches_tracked", requires_grad=False)


def reset_running_stats(layer):
    """torch's method of its norms: running values and counter as at the beginning."""
    layer = getattr(layer, "bn2d", layer)
    for name, value in (("moving_mean", 0), ("moving_variance", 1), ("num_batches_tracked", 0)):
        held = getattr(layer, name, None)
        if held is not None:
            ops.assign(held, ops.full_like(held, value))


class CountingBatchNorm1d(BatchNorm1d):
    """BatchNorm1d that counts the batches it was trained on."""

    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=True, *args, **kwargs):
        super().__init__(num_features, eps, momentum, affine, *args, **kwargs)
        self.num_batches_tracked = batch_counter() if self.use_batch_statistics is None else None

    def construct(self, x):
        if self.training and self.use_batch_statistics is None:
            ops.assign_add(self.num_batches_tracked, 1)
        return super().construct(x)


class CountingBatchNorm2d(BatchNorm2d):
    """BatchNorm2d that counts the batches it was trained on."""

    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=True, *args, **kwargs):
        super().__init__(num_features, eps, momentum, affine, *args, **kwargs)
        self.num_batches_tracked = batch_counter() if self.use_batch_statistics is None else None

    def construct(self, x):
        if self.training and self.use_batch_statistics is None:
            ops.assign_add(self.num_batches_tracked, 1)
        return super().construct(x)


class CountingBatchNorm3d(BatchNorm3d):
    """BatchNorm3d that counts the batches it was trained on, in the inner norm."""

    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=True, *args, **kwargs):
        super().__init__(num_features, eps, momentum, affine, *args, **kwargs)
        self.counts = self.bn2d.use_batch_statistics is None
        self.bn2d.num_batches_tracked = batch_counter() if self.counts else None

    @property
    def num_batches_tracked(self):
        return self.bn2d.num_batches_tracked

    def construct(self, x):
        if self.training and self.counts:
            ops.assign_add(self.bn2d.num_batches_tracked, 1)
        return super().construct(x)


class CumulativeBatchNorm(nn.Cell):
    """Batch norm of any rank for what MindSpore's layer does not take: momentum=None, where running
    values are means over all batches, and an eps above 1.
    """

    def __init__(self, num_features, eps=1e-05, affine=True, momentum=None):
        super().__init__()
        ones, zeros = ops.ones(num_features), ops.zeros(num_features)
        self.eps = eps
        self.share = momentum
        self.gamma = Parameter(ones, name="gamma", requires_grad=affine)
        self.beta = Parameter(zeros, name="beta", requires_grad=affine)
        mark_absent([self.gamma, self.beta], not affine)
        self.moving_mean = Parameter(zeros, name="moving_mean", requires_grad=False)
        self.moving_variance = Parameter(ones, name="moving_variance", requires_grad=False)
        self.num_batches_tracked = batch_counter()

    def construct(self, input):
        share = 0.0 if self.share is None else self.share
        if self.training:
            ops.assign_add(self.num_batches_tracked, 1)
            if self.share is None:
                share = 1.0 / self.num_batches_tracked.astype(mindspore.float32)
        return batch_norm(
            input,
            self.moving_mean,
            self.moving_variance,
            self.gamma,
            self.beta,
            self.training,
            share,
            self.eps,
        )


class GroupNorm(nn.GroupNorm):
    """nn.GroupNorm with torch's arguments."""

    def __init__(
        self,
        num_groups,
        num_channels,
        eps=1e-05,
        affine=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(num_groups, num_channels, eps, affine, dtype=dtype or mindspore.float32)
        self.beta.requires_grad = affine and bias
        mark_absent([self.gamma], not affine)
        mark_absent([self.beta], not (affine and bias))

    def construct(self, input):
        return group_norm(input, self.num_groups, self.gamma, self.beta, self.eps)


class LayerNorm(nn.LayerNorm):
    """nn.LayerNorm with torch's arguments: any number of axes, with or without weight and bias."""

    def __init__(
        self,
        normalized_shape,
        eps=1e-05,
        elementwise_affine=True,
        bias=True,
        device=None,
        dtype=None,
    ):
        if not isinstance(normalized_shape, (tuple, list)):
            normalized_shape = (int(normalized_shape),)
        super().__init__(
            tuple(normalized_shape), epsilon=float(eps), dtype=dtype or mindspore.float32
        )
        self.gamma.requires_grad = elementwise_affine
        self.beta.requires_grad = elementwise_affine and bias
        mark_absent([self.gamma], not elementwise_affine)
        mark_absent([self.beta], not (elementwise_affine and bias))

    def construct(self, input):
        kept = input.shape[: input.ndim - len(self.normalized_shape)]
        # The kernel counts axes from the front; as one last axis they need no counting.
        output, _, _ = self.layer_norm(
            input.reshape(kept + (-1,)), self.gamma.reshape(-1), self.beta.reshape(-1)
        )
        return output.reshape(input.shape)
