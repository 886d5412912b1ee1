"""roi_align of torchvision.ops as two small matrix products per box."""

import mindspore
from mindspore import nn, ops


def _sampling_weights(start, length, bins, samples, size):
    """What each pixel adds to each bin, as the mean of bilinear samples: (K, bins, size)."""
    steps = (ops.arange(bins * samples).astype(mindspore.float32) + 0.5) / (bins * samples)
    where = start.expand_dims(1) + length.expand_dims(1) * steps
    inside = ops.logical_and(where >= -1.0, where <= size).astype(mindspore.float32)
    where = ops.clamp(where, 0, size - 1).expand_dims(2)
    distance = ops.abs(where - ops.arange(size).astype(mindspore.float32))
    weights = ops.relu(1 - distance) * inside.expand_dims(2)
    return weights.reshape((-1, bins, samples, size)).mean(2)


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    """Sample each box on a grid; boxes are (K, 5) with the image index, or one (L, 4) per image."""
    if sampling_ratio <= 0:
        raise NotImplementedError("a sampling_ratio that depends on the box was not ported")
    if isinstance(boxes, (list, tuple)):
        numbered = []
        for index, rows in enumerate(boxes):
            numbered.append(ops.concat((ops.full_like(rows[:, :1], index), rows), axis=1))
        boxes = ops.concat(numbered, axis=0)
    height, width = (output_size, output_size) if isinstance(output_size, int) else output_size
    corners = boxes[:, 1:] * spatial_scale - (0.5 if aligned else 0.0)
    sizes = corners[:, 2:] - corners[:, :2]
    if not aligned:
        sizes = ops.maximum(sizes, ops.ones_like(sizes))
    rows = _sampling_weights(corners[:, 1], sizes[:, 1], height, sampling_ratio, input.shape[2])
    columns = _sampling_weights(corners[:, 0], sizes[:, 0], width, sampling_ratio, input.shape[3])
    images = ops.gather(input, boxes[:, 0].astype(mindspore.int32), 0)
    images = ops.matmul(rows.expand_dims(1), images)
    return ops.matmul(images, columns.swapaxes(1, 2).expand_dims(1))


class RoIAlign(nn.Cell):
    """roi_align as a layer."""

    def __init__(self, output_size, spatial_scale, sampling_ratio, aligned=False):
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale
        self.sampling_ratio = sampling_ratio
        self.aligned = aligned

    def construct(self, input, rois):
        return roi_align(
            input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned
        )
