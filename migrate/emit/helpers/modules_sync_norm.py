"""torch's SyncBatchNorm: statistics of the batches of all processes together.

MindSpore's own runs on Ascend only, and does not convert finished networks.
"""

import mindspore
from mindspore import Tensor, nn, ops

from migrate.emit.helpers.modules_norm import _kept_share
from migrate.emit.helpers.train_distributed import get_world_size, in_group


class SyncBatchNorm(nn.BatchNorm2d):
    """Batch norm over inputs of any number of axes, the second holding the channels."""

    num_batches_tracked = None  # torch's counts them for momentum=None alone

    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
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
        self.alone = not in_group() or get_world_size() == 1
        self.total = None if self.alone else ops.AllReduce()

    def construct(self, x):
        axes = (0, *range(2, x.ndim))
        shape = (1, -1) + (1,) * (x.ndim - 2)
        wide = x.astype(mindspore.float32)
        mean, variance = self.moving_mean, self.moving_variance
        if self.training or self.use_batch_statistics:
            count = Tensor([x.size // x.shape[1]], mindspore.float32)
            sums = ops.cat((wide.sum(axes), (wide * wide).sum(axes), count))
            if not self.alone:
                sums = self.total(sums)
            features, count = self.num_features, ops.stop_gradient(sums[-1])
            mean = sums[:features] / count
            variance = sums[features : 2 * features] / count - mean * mean
            if self.use_batch_statistics is None:
                keep, new = 1 - self.momentum, self.momentum
                unbiased = variance * (count / (count - 1))
                ops.assign(self.moving_mean, keep * self.moving_mean + new * mean)
                ops.assign(self.moving_variance, keep * self.moving_variance + new * unbiased)
        scaled = (wide - mean.reshape(shape)) * ops.rsqrt(variance.reshape(shape) + self.eps)
        result = scaled * self.gamma.reshape(shape) + self.beta.reshape(shape)
        return result.astype(x.dtype)


def convert_sync_batchnorm(module, process_group=None):
    """Every batch norm in a network as a SyncBatchNorm with the same parameters."""
    names = ("gamma", "beta", "moving_mean", "moving_variance")
    if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        old = module.bn2d if isinstance(module, nn.BatchNorm3d) else module
        new = SyncBatchNorm(old.num_features, eps=old.eps)
        new.momentum, new.use_batch_statistics = old.momentum, old.use_batch_statistics
        for name in names:
            new._params[name] = getattr(old, name)
        new.training = module.training
        return new
    for name, child in list(module._cells.items()):
        if child is not None:
            new = convert_sync_batchnorm(child)
            if new is not child:
                # Not by setattr: the parameters have their names.
                module._cells[name] = new
    return module
