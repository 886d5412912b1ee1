"""torch's linear layer fused with its loss, as the two one after the other."""

import math

import mindspore
from mindspore import nn, ops


def linear_cross_entropy(
    input,
    linear_weight,
    target,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """torch's linear_cross_entropy: logits for each class and output feature, and their loss."""
    features = linear_weight.shape[-1]
    logits = ops.matmul(input, linear_weight.reshape((-1, features)).T)
    if linear_bias is not None:
        logits = logits + linear_bias.reshape((-1,))
    return ops.cross_entropy(
        logits.reshape(input.shape[:-1] + linear_weight.shape[:-1]),
        target,
        weight=weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


class LinearCrossEntropyLoss(nn.Cell):
    """Cross entropy of a linear layer's output; the layer is part of the loss."""

    def __init__(
        self,
        in_features,
        num_classes,
        *,
        out_features=(),
        bias=False,
        device=None,
        dtype=None,
        reduction="mean",
        weight=None,
        ignore_index=None,
        label_smoothing=0.0,
        options=None,
    ):
        super().__init__()
        self.shape = (num_classes, *out_features)
        self.linear = nn.Dense(
            in_features, math.prod(self.shape), has_bias=bias, dtype=dtype or mindspore.float32
        )
        self.weight = weight
        self.reduction = reduction
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def construct(self, input, target):
        return linear_cross_entropy(
            input,
            self.linear.weight.reshape(self.shape + (-1,)),
            target,
            self.linear.bias if self.linear.has_bias else None,
            self.weight,
            self.reduction,
            self.ignore_index,
            self.label_smoothing,
        )
