"""Box arithmetic of torchvision.ops, from plain operators."""

import numpy as np
from mindspore import Tensor, ops


def box_convert(boxes, in_fmt, out_fmt):
    """Convert boxes between 'xyxy', 'xywh' and 'cxcywh'."""
    known = ("xyxy", "xywh", "cxcywh")
    if in_fmt not in known or out_fmt not in known:
        raise NotImplementedError("box formats with a rotation were not ported")
    first, second = boxes[..., :2], boxes[..., 2:]
    if in_fmt == "xyxy":
        corner, size = first, second - first
    elif in_fmt == "xywh":
        corner, size = first, second
    else:
        corner, size = first - 0.5 * second, second
    if out_fmt == "xyxy":
        return ops.concat((corner, corner + size), axis=-1)
    if out_fmt == "xywh":
        return ops.concat((corner, size), axis=-1)
    return ops.concat((corner + 0.5 * size, size), axis=-1)


def box_area(boxes, fmt="xyxy"):
    """Width times height of each box."""
    if fmt not in ("xyxy", "xywh", "cxcywh"):
        raise ValueError(f"fmt is 'xyxy', 'xywh' or 'cxcywh', got {fmt}")
    size = boxes[..., 2:] - boxes[..., :2] if fmt == "xyxy" else boxes[..., 2:]
    return size[..., 0] * size[..., 1]


def _pairs(boxes1, boxes2):
    """Intersection, union and size of the enclosing box, for every pair of boxes."""
    a, b = boxes1.expand_dims(-2), boxes2.expand_dims(-3)
    overlap = ops.minimum(a[..., 2:], b[..., 2:]) - ops.maximum(a[..., :2], b[..., :2])
    overlap = ops.maximum(overlap, ops.zeros_like(overlap))
    intersection = overlap[..., 0] * overlap[..., 1]
    union = box_area(boxes1).expand_dims(-1) + box_area(boxes2).expand_dims(-2) - intersection
    hull = ops.maximum(a[..., 2:], b[..., 2:]) - ops.minimum(a[..., :2], b[..., :2])
    return intersection, union, hull


def box_iou(boxes1, boxes2, fmt="xyxy"):
    """Intersection over union of every pair."""
    boxes1, boxes2 = box_convert(boxes1, fmt, "xyxy"), box_convert(boxes2, fmt, "xyxy")
    intersection, union, _ = _pairs(boxes1, boxes2)
    return intersection / union


def generalized_box_iou(boxes1, boxes2):
    """IoU minus the share of the enclosing box that neither box covers."""
    intersection, union, hull = _pairs(boxes1, boxes2)
    area = hull[..., 0] * hull[..., 1]
    return intersection / union - (area - union) / area


def distance_box_iou(boxes1, boxes2, eps=1e-07):
    """IoU minus the squared centre distance over the squared diagonal of the enclosing box."""
    intersection, union, hull = _pairs(boxes1, boxes2)
    centre1 = (boxes1[..., :2] + boxes1[..., 2:]) / 2
    centre2 = (boxes2[..., :2] + boxes2[..., 2:]) / 2
    distance = centre1.expand_dims(-2) - centre2.expand_dims(-3)
    return intersection / union - (distance**2).sum(-1) / ((hull**2).sum(-1) + eps)


def complete_box_iou(boxes1, boxes2, eps=1e-07):
    """distance_box_iou minus a penalty for different aspect ratios."""
    iou = box_iou(boxes1, boxes2)
    penalty = _aspect_difference(boxes1.expand_dims(-2), boxes2.expand_dims(-3))
    share = ops.stop_gradient(penalty / (1 - iou + penalty + eps))
    return distance_box_iou(boxes1, boxes2, eps) - share * penalty


def _aspect_difference(boxes1, boxes2):
    size1, size2 = boxes1[..., 2:] - boxes1[..., :2], boxes2[..., 2:] - boxes2[..., :2]
    angle1 = ops.atan(size1[..., 0] / size1[..., 1])
    angle2 = ops.atan(size2[..., 0] / size2[..., 1])
    return 4 / np.pi**2 * (angle1 - angle2) ** 2


def clip_boxes_to_image(boxes, size):
    """Cut boxes off at the border of an image of size (height, width)."""
    limits = Tensor([size[1], size[0]] * 2, boxes.dtype)
    return ops.maximum(ops.minimum(boxes, limits), ops.zeros_like(boxes))


def remove_small_boxes(boxes, min_size):
    """Indices of the boxes whose sides are both at least min_size."""
    size = boxes[:, 2:] - boxes[:, :2]
    return ops.nonzero((size >= min_size).all(-1)).reshape(-1)


def masks_to_boxes(masks):
    """The smallest 'xyxy' box around each mask (N, H, W); computed on the host."""
    boxes = np.zeros((masks.shape[0], 4), np.float32)
    for box, mask in zip(boxes, masks.asnumpy(), strict=True):
        y, x = np.nonzero(mask)
        box[:] = x.min(), y.min(), x.max(), y.max()
    return Tensor(boxes)


def nms(boxes, scores, iou_threshold):
    """Indices of the boxes that no better one overlaps too much, best first; on the host."""
    overlap = box_iou(boxes, boxes).asnumpy() > iou_threshold
    order = np.argsort(-scores.asnumpy(), kind="stable")
    kept = []
    for index in order:
        if not overlap[index, kept].any():
            kept.append(index)
    return Tensor(np.array(kept, np.int64))


def batched_nms(boxes, scores, idxs, iou_threshold):
    """nms within each group of idxs: groups are moved apart so that they cannot overlap."""
    if boxes.shape[0] == 0:
        return Tensor(np.zeros(0, np.int64))
    offsets = idxs.astype(boxes.dtype) * (boxes.max() + 1)
    return nms(boxes + offsets.expand_dims(1), scores, iou_threshold)
