"""Detection losses of torchvision.ops, from plain operators."""

import numpy as np
from mindspore import ops


def _reduced(loss, reduction):
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction != "none":
        raise ValueError(f"reduction is 'none', 'mean' or 'sum', got {reduction}")
    return loss


def _row_by_row(boxes1, boxes2, eps):
    """IoU of box i with box i, their union, and the size of the box around both."""
    size1, size2 = boxes1[..., 2:] - boxes1[..., :2], boxes2[..., 2:] - boxes2[..., :2]
    overlap = ops.minimum(boxes1[..., 2:], boxes2[..., 2:])
    overlap = overlap - ops.maximum(boxes1[..., :2], boxes2[..., :2])
    intersection = overlap[..., 0] * overlap[..., 1]
    apart = ops.logical_or(overlap[..., 0] <= 0, overlap[..., 1] <= 0)
    intersection = ops.select(apart, ops.zeros_like(intersection), intersection)
    union = size1[..., 0] * size1[..., 1] + size2[..., 0] * size2[..., 1] - intersection
    hull = ops.maximum(boxes1[..., 2:], boxes2[..., 2:])
    hull = hull - ops.minimum(boxes1[..., :2], boxes2[..., :2])
    return intersection / (union + eps), union, hull


def generalized_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-07):
    """One minus the generalized IoU of each pair of boxes."""
    iou, union, hull = _row_by_row(boxes1, boxes2, eps)
    area = hull[..., 0] * hull[..., 1]
    return _reduced(1 - iou + (area - union) / (area + eps), reduction)


def distance_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-07):
    """One minus the distance IoU of each pair of boxes."""
    iou, _, hull = _row_by_row(boxes1, boxes2, eps)
    centres = (boxes1[..., :2] + boxes1[..., 2:] - boxes2[..., :2] - boxes2[..., 2:]) / 2
    diagonal = (hull**2).sum(-1) + eps
    return _reduced(1 - iou + (centres**2).sum(-1) / diagonal, reduction)


def complete_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-07):
    """distance_box_iou_loss plus a penalty for different aspect ratios."""
    iou, _, _ = _row_by_row(boxes1, boxes2, 1e-07)
    size1, size2 = boxes1[..., 2:] - boxes1[..., :2], boxes2[..., 2:] - boxes2[..., :2]
    angle1 = ops.atan(size1[..., 0] / size1[..., 1])
    angle2 = ops.atan(size2[..., 0] / size2[..., 1])
    penalty = 4 / np.pi**2 * (angle2 - angle1) ** 2
    share = ops.stop_gradient(penalty / (1 - iou + penalty + eps))
    return _reduced(distance_box_iou_loss(boxes1, boxes2) + share * penalty, reduction)


def sigmoid_focal_loss(inputs, targets, alpha=0.25, gamma=2, reduction="none"):
    """Binary cross entropy that weighs easy examples down."""
    probability = ops.sigmoid(inputs)
    # log(1 + exp(-|x|)) + max(x, 0) - x * target: binary cross entropy that cannot overflow.
    loss = ops.log1p(ops.exp(-ops.abs(inputs))) + ops.relu(inputs) - inputs * targets
    hit = probability * targets + (1 - probability) * (1 - targets)
    loss = loss * (1 - hit) ** gamma
    if alpha >= 0:
        loss = loss * (alpha * targets + (1 - alpha) * (1 - targets))
    return _reduced(loss, reduction)
