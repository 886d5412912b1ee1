"""Losses over triplets and label sequences, as torch computes them."""

import mindspore
from mindspore import Tensor, nn, ops

from migrate.port.helpers.modules_distance import PairwiseDistance
from migrate.port.helpers.modules_loss import reduce_loss


class TripletMarginWithDistanceLoss(nn.Cell):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) for any distance."""

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__()
        self.distance_function = distance_function or PairwiseDistance()
        self.margin = margin
        self.swap = swap
        self.reduction = reduction

    def construct(self, anchor, positive, negative):
        near = self.distance_function(anchor, positive)
        far = self.distance_function(anchor, negative)
        if self.swap:
            far = ops.minimum(far, self.distance_function(positive, negative))
        return reduce_loss(ops.relu(near - far + self.margin), self.reduction)


class TripletMarginLoss(TripletMarginWithDistanceLoss):
    """The triplet loss over p-norms."""

    def __init__(
        self,
        margin=1.0,
        p=2.0,
        eps=1e-06,
        swap=False,
        size_average=None,
        reduce=None,
        reduction="mean",
    ):
        super().__init__(
            distance_function=PairwiseDistance(p, eps),
            margin=margin,
            swap=swap,
            reduction=reduction,
        )


class CTCLoss(nn.Cell):
    """CTC for padded or concatenated targets, with lengths as tensors or tuples."""

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__()
        self.blank = blank
        self.reduction = reduction
        self.zero_infinity = zero_infinity

    def construct(self, log_probs, targets, input_lengths, target_lengths):
        batched = log_probs.ndim == 3
        if not batched:
            log_probs = log_probs.expand_dims(1)
        frames = _lengths(input_lengths)
        labels = _lengths(target_lengths)
        if targets.ndim == 1:
            targets = _split_targets(targets, labels, log_probs.shape[1])
        loss, _ = ops.ctc_loss(
            log_probs,
            targets.astype("int32"),
            frames,
            labels,
            self.blank,
            "none",
            self.zero_infinity,
        )
        if self.reduction == "mean":
            return (loss / ops.maximum(labels, 1).astype(loss.dtype)).mean()
        if self.reduction == "sum":
            return loss.sum()
        return loss if batched else loss.squeeze(0)


def _lengths(values):
    """Lengths as an int32 vector."""
    if isinstance(values, (tuple, list)):
        return Tensor(values, mindspore.int32)
    return values.reshape(-1).astype("int32")


def _split_targets(targets, labels, batch):
    """Concatenated targets as rows; what lies beyond a row's length is not read."""
    if batch == 1:
        return targets.expand_dims(0)
    width = targets.shape[0]
    start = (ops.cumsum(labels, 0) - labels).expand_dims(1)
    index = ops.minimum(start + ops.arange(width).expand_dims(0), width - 1)
    return ops.gather(targets, index.astype("int32"), 0)
