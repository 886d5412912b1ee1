"""Losses of class indices for logits that may be infinite: masked with -inf, or logarithms of 0."""

from mindspore import nn, ops

from migrate.emit.helpers.functions_nan import log_softmax_with_nan


def nll_loss_of_infinite(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"
):
    """Takes each target's log probability alone. ops.nll_loss multiplies the others by 0, and 0
    times -inf is NaN.
    """
    axis = 0 if input.ndim == 1 else 1
    counted = target != ignore_index
    index = ops.where(counted, target, ops.zeros_like(target)).astype("int64")
    chosen = ops.gather_elements(input, axis, index.expand_dims(axis)).squeeze(axis)
    share = ops.ones_like(chosen) if weight is None else weight[index].astype(chosen.dtype)
    nothing = ops.zeros_like(chosen)
    share = ops.where(counted, share, nothing)
    loss = ops.where(counted, -chosen * share, nothing)
    if reduction == "none":
        return loss
    return loss.sum() / share.sum() if reduction == "mean" else loss.sum()


def cross_entropy_of_infinite(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    """cross_entropy for class indices where logits may be -inf; else ops.cross_entropy."""
    if target.ndim == input.ndim or label_smoothing > 0.0:
        return ops.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)
    logs = log_softmax_with_nan(input, 0 if input.ndim == 1 else 1)
    return nll_loss_of_infinite(
        logs, target, weight, ignore_index=ignore_index, reduction=reduction
    )


class NLLLossOfInfinite(nn.Cell):
    """nn.NLLLoss with torch's arguments, for log probabilities that may be -inf."""

    def __init__(
        self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"
    ):
        super().__init__()
        self.weight = weight
        self.ignore_index = ignore_index
        self.reduction = reduction

    def construct(self, input, target):
        return nll_loss_of_infinite(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class CrossEntropyLossOfInfinite(NLLLossOfInfinite):
    """nn.CrossEntropyLoss with torch's arguments, for logits that may be -inf."""

    def __init__(
        self,
        weight=None,
        size_average=None,
        ignore_index=-100,
        reduce=None,
        reduction="mean",
        label_smoothing=0.0,
    ):
        super().__init__(weight, ignore_index=ignore_index, reduction=reduction)
        self.label_smoothing = label_smoothing

    def construct(self, input, target):
        return cross_entropy_of_infinite(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
