"""Losses that MindSpore lacks, has no CPU kernel for, or differentiates differently."""

import math

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_decompose import vector_norm
from migrate.emit.helpers.functions_empty import of_nothing
from migrate.emit.helpers.functions_special import xlogy


def _reduce_loss(loss, reduction):
    """torch's three reductions; MindSpore's kernels do not write the mean of nothing."""
    if reduction not in ("mean", "sum"):
        return loss
    result = loss.mean() if reduction == "mean" else loss.sum()
    if loss.size == 0:
        result = of_nothing(result, float("nan") if reduction == "mean" else 0.0)
    return result


def binary_cross_entropy(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """torch's binary_cross_entropy; MindSpore's value is doubled for a single element.

    Where a probability is 0 or 1, the logarithm is -100 and the slope 1e12, as in torch: there the
    derivative of a clamped logarithm would be 0 times infinity.
    """
    kind = input.dtype
    if kind != mindspore.float64:
        input = input.astype(mindspore.float32)
    fixed = ops.stop_gradient(input)
    low, high = fixed < 1e-12, 1 - fixed < 1e-12
    edge, steep = ops.logical_or(low, high), (input - fixed) * 1e12
    middle = ops.where(edge, ops.full_like(input, 0.5), input)
    yes = ops.clamp(ops.log(fixed), min=-100) + steep * low.astype(input.dtype)
    no = ops.clamp(ops.log(1 - fixed), min=-100) - steep * high.astype(input.dtype)
    yes, no = ops.where(edge, yes, ops.log(middle)), ops.where(edge, no, ops.log(1 - middle))
    loss = -(target * yes + (1 - target) * no)
    loss = _reduce_loss(loss if weight is None else loss * weight, reduction)
    return loss.astype(kind) if kind == mindspore.float16 else loss


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """torch's loss; MindSpore's CPU gradient can be wrong after a call of another size."""
    # Not ops.abs and ops.relu: where the input is 0, their slopes add up to another one.
    below = input <= 0
    distance = ops.where(below, -input, input)
    tail = ops.log1p(ops.exp(-distance)) + ops.where(below, -input, ops.zeros_like(input))
    if pos_weight is not None:
        tail = tail * ((pos_weight - 1) * target + 1)
    loss = (1 - target) * input + tail
    return _reduce_loss(loss if weight is None else loss * weight, reduction)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """torch's kl_div, differentiable in both arguments."""
    if log_target:
        loss = ops.exp(target) * (target - input)
    else:
        loss = xlogy(target, target) - target * input
    if reduction == "batchmean":
        return loss.sum() / (input.shape[0] if input.ndim > 0 else 1)
    return _reduce_loss(loss, reduction)


def cosine_similarity(x1, x2, dim=1, eps=1e-08):
    """torch's cosine_similarity with broadcasting."""
    x1, x2 = x1 + ops.zeros_like(x2), x2 + ops.zeros_like(x1)
    return ops.sum(_unit(x1, dim, eps) * _unit(x2, dim, eps), dim=dim)


def _unit(x, dim, eps):
    """x over its length, which is at least eps."""
    length = ops.sum(ops.square(x), dim=dim, keepdim=True)
    return x * ops.rsqrt(ops.clamp(length, min=eps * eps))


def cosine_embedding_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """torch's cosine_embedding_loss."""
    if input1.dtype == mindspore.bool_:
        input1, input2 = input1.astype(mindspore.float32), input2.astype(mindspore.float32)
    # Here torch keeps the lengths away from zero by adding, not by a minimum.
    dot = ops.sum(input1 * input2, dim=-1)
    first = ops.sum(ops.square(input1), dim=-1) + 1e-12
    second = ops.sum(ops.square(input2), dim=-1) + 1e-12
    cosine = dot / ops.sqrt(first * second)
    apart = ops.clamp(cosine - margin, min=0)
    loss = ops.where(
        target == 1, 1 - cosine, ops.where(target == -1, apart, ops.zeros_like(cosine))
    )
    return _reduce_loss(loss, reduction)


def hinge_embedding_loss(
    input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"
):
    """torch's hinge_embedding_loss."""
    zero = ops.zeros_like(input)
    apart = ops.where(target != 1, ops.clamp(margin - input, min=0), zero)
    return _reduce_loss(apart + ops.where(target != -1, input, zero), reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """torch's soft_margin_loss."""
    return _reduce_loss(ops.log1p(ops.exp(-target * input)), reduction)


def multi_margin_loss(
    input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """torch's multi_margin_loss."""
    scores = input if input.ndim == 2 else input.reshape((1, -1))
    place = target.reshape((-1, 1)).astype(mindspore.int64)
    loss = ops.relu(margin - ops.gather_elements(scores, 1, place) + scores)
    loss = loss if p == 1 else ops.square(loss)
    if weight is not None:
        loss = loss * ops.gather(weight, place, 0)
    others = 1 - ops.one_hot(place.reshape((-1,)), scores.shape[1]).astype(loss.dtype)
    loss = ops.sum(loss * others, dim=1) / scores.shape[1]
    return _reduce_loss(loss if target.ndim == 1 else loss.squeeze(0), reduction)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """torch's multilabel_margin_loss; labels end at the first -1."""
    scores = input if input.ndim == 2 else input.reshape((1, -1))
    labels = target if target.ndim == 2 else target.reshape((1, -1))
    valid = (ops.cumsum((labels < 0).astype(mindspore.int32), 1) == 0).astype(scores.dtype)
    labels = ops.clamp(labels, min=0).astype(mindspore.int64)
    hot = ops.one_hot(labels, scores.shape[1]).astype(scores.dtype) * valid.expand_dims(-1)
    others = 1 - ops.clamp(hot.sum(1), max=1)
    chosen = ops.gather_elements(scores, 1, labels)
    margins = ops.relu(1 - (chosen.expand_dims(-1) - scores.expand_dims(1)))
    margins = margins * valid.expand_dims(-1) * others.expand_dims(1)
    loss = margins.sum((1, 2)) / scores.shape[1]
    return _reduce_loss(loss if input.ndim == 2 else loss.squeeze(0), reduction)


def poisson_nll_loss(
    input,
    target,
    log_input=True,
    full=False,
    size_average=None,
    eps=1e-08,
    reduce=None,
    reduction="mean",
):
    """torch's poisson_nll_loss, of counts too."""
    if not ops.is_floating_point(input):
        input = input.astype(mindspore.float32)
    if not ops.is_floating_point(target):
        target = target.astype(mindspore.float32)
    loss = ops.exp(input) - target * input if log_input else input - target * ops.log(input + eps)
    if full:
        safe = ops.clamp(target, min=1)
        stirling = target * ops.log(safe) - target + 0.5 * ops.log(2 * math.pi * safe)
        loss = loss + ops.where(target > 1, stirling, ops.zeros_like(loss))
    return _reduce_loss(loss, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction="mean"):
    """torch's gaussian_nll_loss; the variance is clamped without a gradient."""
    if isinstance(var, (int, float)):
        var = var * ops.ones_like(input)
    elif var.ndim == input.ndim - 1:
        var = var.expand_dims(-1)
    var = var + ops.stop_gradient(ops.clamp(var, min=eps) - var)
    loss = 0.5 * (ops.log(var) + ops.square(input - target) / var)
    return _reduce_loss(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False):
    """torch's pairwise_distance."""
    return vector_norm(x1 - x2 + eps, p, -1, keepdim)


def triplet_margin_loss(
    anchor,
    positive,
    negative,
    margin=1.0,
    p=2,
    eps=1e-06,
    swap=False,
    size_average=None,
    reduce=None,
    reduction="mean",
):
    """torch's triplet_margin_loss."""
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = ops.minimum(far, pairwise_distance(positive, negative, p, eps))
    return _reduce_loss(ops.clamp(near - far + margin, min=0), reduction)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """torch's triplet_margin_with_distance_loss."""
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return _reduce_loss(ops.clamp(near - far + margin, min=0), reduction)


def ctc_loss(
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    blank=0,
    reduction="mean",
    zero_infinity=False,
):
    """torch's ctc_loss; lengths may be tuples, targets padded to one row a sample."""
    if not isinstance(input_lengths, mindspore.Tensor):
        input_lengths = mindspore.Tensor(input_lengths, mindspore.int64)
    if not isinstance(target_lengths, mindspore.Tensor):
        target_lengths = mindspore.Tensor(target_lengths, mindspore.int64)
    loss = ops.ctc_loss(
        log_probs,
        targets,
        input_lengths.astype(mindspore.int64),
        target_lengths.astype(mindspore.int64),
        blank=blank,
        reduction="none",
        zero_infinity=zero_infinity,
    )[0]
    if reduction == "mean":
        loss = loss / ops.clamp(target_lengths, min=1)
    return _reduce_loss(loss, reduction)


def mse_loss_with_empty(input, target, size_average=None, reduce=None, reduction="mean"):
    """torch's mse_loss."""
    return _reduce_loss(ops.square(input - target), reduction)


def l1_loss_with_empty(input, target, size_average=None, reduce=None, reduction="mean"):
    """torch's l1_loss."""
    return _reduce_loss(ops.abs(input - target), reduction)


def cross_entropy_with_empty(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    """torch's cross_entropy."""
    if input.size == 0:
        return _reduce_loss(input[..., 0], reduction)
    return ops.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


def nll_loss_with_empty(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"
):
    """torch's nll_loss."""
    if input.size == 0:
        return _reduce_loss(input[..., 0], reduction)
    return ops.nll_loss(input, target, weight, ignore_index, reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """torch's smooth_l1_loss; without a smooth part it is the plain distance."""
    if beta == 0:
        return _reduce_loss(ops.abs(input - target), reduction)
    if input.size == 0:
        return _reduce_loss(input - target, reduction)
    return ops.smooth_l1_loss(input, target, beta=beta, reduction=reduction)
