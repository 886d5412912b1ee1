"""Losses that take what torch's take: int64 targets, log targets, gradients for every input."""

import mindspore
from mindspore import Tensor, nn, ops

from migrate.emit.helpers.functions_loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    ctc_loss,
    kl_div,
    l1_loss_with_empty,
    mse_loss_with_empty,
    multi_margin_loss,
    multilabel_margin_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)


def _reduction(size_average, reduce, reduction):
    """The reduction that torch's older words for it mean."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


class Loss(nn.Cell):
    """The base that torch's losses share: a reduction."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.reduction = _reduction(size_average, reduce, reduction)


class WeightedLoss(Loss):
    """A loss with a weight that is not trained."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.weight = weight


class BCELoss(nn.Cell):
    """Binary cross entropy; MindSpore's kernel reads past a weight smaller than the input."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.weight = weight
        self.reduction = reduction

    def construct(self, input, target):
        return binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(nn.Cell):
    """Binary cross entropy of logits; MindSpore's gradient is wrong after a call of size one."""

    def __init__(
        self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
    ):
        super().__init__()
        self.weight = weight
        self.reduction = reduction
        self.pos_weight = pos_weight

    def construct(self, input, target):
        return binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class CrossEntropyLoss(nn.CrossEntropyLoss):
    """nn.CrossEntropyLoss for class indices of any integer type, or class probabilities."""

    def __init__(
        self,
        weight=None,
        size_average=None,
        ignore_index=-100,
        reduce=None,
        reduction="mean",
        label_smoothing=0.0,
    ):
        super().__init__(weight, ignore_index, reduction, label_smoothing)

    def construct(self, input, target):
        if target.ndim != input.ndim:
            target = target.astype("int32")
        return ops.cross_entropy(
            input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing
        )


class KLDivLoss(nn.Cell):
    """Kullback-Leibler divergence, differentiable in both arguments, for targets or log targets."""

    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__()
        self.reduction = reduction
        self.log_target = log_target

    def construct(self, input, target):
        return kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class MarginRankingLoss(nn.Cell):
    """max(0, -target (input1 - input2) + margin), whatever the target's type."""

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.margin = margin
        self.reduction = reduction

    def construct(self, input1, input2, target):
        loss = ops.relu(-target * (input1 - input2) + self.margin)
        if self.reduction == "mean":
            return loss.mean()
        return loss.sum() if self.reduction == "sum" else loss


class MultiLabelMarginLoss(nn.Cell):
    """Hinge between every target class and every other class; a target list ends at -1."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.reduction = reduction

    def construct(self, input, target):
        return multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(nn.Cell):
    """Hinge between the target class and every other class."""

    def __init__(
        self, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
    ):
        super().__init__()
        self.p = p
        self.margin = margin
        self.weight = weight
        self.reduction = reduction

    def construct(self, input, target):
        return multi_margin_loss(
            input, target, self.p, self.margin, self.weight, reduction=self.reduction
        )


class SoftMarginLoss(MultiLabelMarginLoss):
    """log(1 + exp(-target input))."""

    def construct(self, input, target):
        return soft_margin_loss(input, target, reduction=self.reduction)


class TripletMarginLoss(nn.Cell):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) over p-norms."""

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
        super().__init__()
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap
        self.reduction = reduction

    def construct(self, anchor, positive, negative):
        return triplet_margin_loss(
            anchor,
            positive,
            negative,
            self.margin,
            self.p,
            self.eps,
            self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(nn.Cell):
    """The triplet loss over any distance."""

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__()
        self.distance_function = distance_function
        self.margin = margin
        self.swap = swap
        self.reduction = reduction

    def construct(self, anchor, positive, negative):
        return triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            self.distance_function,
            self.margin,
            self.swap,
            self.reduction,
        )


class CTCLoss(nn.Cell):
    """CTC for padded or concatenated targets, with lengths as tensors or tuples, batched or not."""

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__()
        self.blank = blank
        self.reduction = reduction
        self.zero_infinity = zero_infinity

    def construct(self, log_probs, targets, input_lengths, target_lengths):
        batched = log_probs.ndim == 3
        if not batched:
            log_probs = log_probs.expand_dims(1)
        frames = _as_lengths(input_lengths)
        labels = _as_lengths(target_lengths)
        if targets.ndim == 1:
            targets = _rows_of_targets(targets, labels, log_probs.shape[1])
        loss = ctc_loss(
            log_probs, targets, frames, labels, self.blank, self.reduction, self.zero_infinity
        )
        return loss if batched or self.reduction != "none" else loss.squeeze(0)


def _as_lengths(values):
    """Lengths as an int64 vector."""
    if isinstance(values, (tuple, list)):
        return Tensor(values, mindspore.int64)
    return values.reshape(-1).astype("int64")


def _rows_of_targets(targets, labels, batch):
    """Concatenated targets as rows; what lies beyond a row's length is not read."""
    if batch == 1:
        return targets.expand_dims(0)
    width = targets.shape[0]
    start = (ops.cumsum(labels, 0) - labels).expand_dims(1)
    index = ops.minimum(start + ops.arange(width).expand_dims(0), width - 1)
    return ops.gather(targets, index.astype("int32"), 0)


class L1LossWithEmpty(nn.Cell):
    """torch's L1Loss."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.reduction = reduction

    def construct(self, input, target):
        return l1_loss_with_empty(input, target, reduction=self.reduction)


class MSELossWithEmpty(L1LossWithEmpty):
    """torch's MSELoss."""

    def construct(self, input, target):
        return mse_loss_with_empty(input, target, reduction=self.reduction)


class SmoothL1LossWithEmpty(nn.Cell):
    """torch's SmoothL1Loss."""

    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__()
        self.reduction, self.beta = reduction, beta

    def construct(self, input, target):
        return smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)
