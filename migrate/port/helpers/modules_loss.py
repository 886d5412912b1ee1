"""Losses that take what torch's take: int64 targets, log targets, gradients for every input."""

from mindspore import nn, ops


def reduce_loss(loss, reduction):
    """torch's three reductions."""
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


class BCELoss(nn.Cell):
    """Binary cross entropy whose weight broadcasts; MindSpore's kernel reads past a smaller one."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.weight = weight
        self.reduction = reduction

    def construct(self, input, target):
        weight = ops.ones_like(input)
        if self.weight is not None:
            weight = weight * self.weight
        return ops.binary_cross_entropy(input, target, weight, self.reduction)


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
        if self.log_target:
            loss = ops.exp(target) * (target - input)
        else:
            loss = ops.xlogy(target, target) - target * input
        if self.reduction == "batchmean":
            return loss.sum() / (input.shape[0] if input.ndim > 0 else 1)
        return reduce_loss(loss, self.reduction)


class MarginRankingLoss(nn.Cell):
    """max(0, -target (input1 - input2) + margin)."""

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.margin = margin
        self.reduction = reduction

    def construct(self, input1, input2, target):
        return reduce_loss(ops.relu(-target * (input1 - input2) + self.margin), self.reduction)


class MultiLabelMarginLoss(nn.Cell):
    """Hinge between every target class and every other class; a target list ends at -1."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.reduction = reduction

    def construct(self, input, target):
        x = input.reshape((-1, input.shape[-1]))
        target = target.reshape(x.shape)
        listed = ops.cumprod((target >= 0).astype(x.dtype), 1)
        index = ops.maximum(target, 0).astype("int32")
        classes = ops.one_hot(index, x.shape[1]).astype(x.dtype)
        others = 1 - ops.amax(classes * listed.expand_dims(2), 1)
        wanted = (classes * x.expand_dims(1)).sum(2)
        hinge = ops.relu(1 - wanted.expand_dims(2) + x.expand_dims(1))
        loss = (hinge * listed.expand_dims(2) * others.expand_dims(1)).sum((1, 2)) / x.shape[1]
        return reduce_loss(loss.reshape(input.shape[:-1]), self.reduction)


class SoftMarginLoss(nn.Cell):
    """log(1 + exp(-target input))."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.reduction = reduction

    def construct(self, input, target):
        return reduce_loss(ops.softplus(-target * input), self.reduction)
