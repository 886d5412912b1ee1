"""Shapes that torch's Tensor methods make and MindSpore's do not."""

from mindspore import ops


def unflatten(input, dim, sizes):
    """torch's unflatten: one dimension becomes several."""
    axis = dim + input.ndim if dim < 0 else dim
    return input.reshape(input.shape[:axis] + tuple(sizes) + input.shape[axis + 1 :])


def unfold(input, dimension, size, step):
    """torch's Tensor.unfold: windows of one dimension, laid out in a new last one."""
    axis = dimension + input.ndim if dimension < 0 else dimension
    count = (input.shape[axis] - size) // step + 1
    places = ops.arange(count).reshape((-1, 1)) * step + ops.arange(size)
    return ops.movedim(ops.gather(input, places, axis), axis + 1, -1)


def hsplit(input, indices_or_sections):
    """torch's hsplit, which also cuts vectors."""
    return ops.tensor_split(input, indices_or_sections, axis=0 if input.ndim == 1 else 1)
