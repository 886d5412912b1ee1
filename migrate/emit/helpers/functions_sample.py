"""Bicubic grid sampling and bags of embeddings, which MindSpore lacks."""

import mindspore
from mindspore import ops


def _grid_positions(coordinate, size, align_corners):
    """From [-1, 1] to positions in an axis."""
    if align_corners:
        return (coordinate + 1) * ((size - 1) / 2)
    return ((coordinate + 1) * size - 1) / 2


def _grid_reflect(x, size, align_corners):
    """Positions outside the axis mirrored back into it."""
    low, span = (0.0, float(size - 1)) if align_corners else (-0.5, float(size))
    if span == 0:
        return ops.zeros_like(x)
    x = ops.abs(x - low)
    extra = x - ops.floor(x / span) * span
    even = ops.floor(x / span) % 2 == 0
    return ops.clamp(ops.where(even, extra + low, span - extra + low), min=0, max=size - 1)


def _grid_pick(input, x, y, padding_mode, align_corners):
    """The pixels at whole positions, with torch's padding for those outside."""
    batch, channels, height, width = input.shape
    inside = None
    if padding_mode == "reflection":
        x = _grid_reflect(x, width, align_corners)
        y = _grid_reflect(y, height, align_corners)
    elif padding_mode == "zeros":
        inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    x, y = ops.clamp(x, min=0, max=width - 1), ops.clamp(y, min=0, max=height - 1)
    place = (ops.round(y) * width + ops.round(x)).astype(mindspore.int64)
    place = place.reshape((batch, 1, -1)).broadcast_to((batch, channels, place.size // batch))
    picked = ops.gather_elements(input.reshape((batch, channels, -1)), 2, place)
    picked = picked.reshape((batch, channels, *x.shape[1:]))
    if inside is None:
        return picked
    return picked * inside.expand_dims(1).astype(picked.dtype)


def _cubic_weights(t):
    """Keys' cubic weights of the four neighbours, a = -0.75."""
    a = -0.75
    far, near, ahead, beyond = t + 1, t, 1 - t, 2 - t
    return (
        ((a * far - 5 * a) * far + 8 * a) * far - 4 * a,
        ((a + 2) * near - (a + 3)) * near * near + 1,
        ((a + 2) * ahead - (a + 3)) * ahead * ahead + 1,
        ((a * beyond - 5 * a) * beyond + 8 * a) * beyond - 4 * a,
    )


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """torch's grid_sample; the bicubic mode is composed, the others are MindSpore's."""
    if mode != "bicubic":
        return ops.grid_sample(
            input, grid, mode=mode, padding_mode=padding_mode, align_corners=bool(align_corners)
        )
    x = _grid_positions(grid[..., 0], input.shape[3], bool(align_corners))
    y = _grid_positions(grid[..., 1], input.shape[2], bool(align_corners))
    left, top = ops.floor(x), ops.floor(y)
    across, down = _cubic_weights(x - left), _cubic_weights(y - top)
    output = 0.0
    for i in range(4):
        row = 0.0
        for j in range(4):
            picked = _grid_pick(
                input, left + (j - 1), top + (i - 1), padding_mode, bool(align_corners)
            )
            row = row + picked * across[j].expand_dims(1)
        output = output + row * down[i].expand_dims(1)
    return output


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """torch's embedding_bag: sums, means or maxima of groups of rows."""
    if max_norm is not None or scale_grad_by_freq:
        raise NotImplementedError("max_norm and scale_grad_by_freq have no counterpart here")
    flat = input.reshape((-1,))
    if input.ndim == 2:
        bags = input.shape[0]
        bag = ops.arange(flat.shape[0]) // input.shape[1]
    else:
        bags = offsets.shape[0] - 1 if include_last_offset else offsets.shape[0]
        bag = ops.searchsorted(offsets[:bags], ops.arange(flat.shape[0]), right=True) - 1
    rows = ops.gather(weight, flat, 0)
    counted = ops.ones((flat.shape[0], 1), weight.dtype)
    if padding_idx is not None:
        padding_idx = padding_idx + weight.shape[0] if padding_idx < 0 else padding_idx
        counted = (flat != padding_idx).astype(weight.dtype).expand_dims(-1)
    bag = bag.astype(mindspore.int32)
    count = ops.unsorted_segment_sum(counted, bag, bags)
    if mode == "max":
        rows = ops.where(counted > 0, rows, float("-inf"))
        best = ops.unsorted_segment_max(rows, bag, bags)
        return ops.where(count > 0, best, ops.zeros_like(best))
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape((-1, 1))
    total = ops.unsorted_segment_sum(rows * counted, bag, bags)
    return total / ops.clamp(count, min=1) if mode == "mean" else total
