"""torch's affine_grid from elementary operators; MindSpore's runs on an Ascend's AI CPU."""

from mindspore import ops


def _grid_axis(size, align_corners, dtype):
    """The coordinates of one axis, from -1 to 1: of the corners, or of the pixels' centres."""
    if align_corners and size == 1:
        return ops.zeros((1,), dtype)
    places = ops.arange(size).astype(dtype)
    if align_corners:
        return places * (2 / (size - 1)) - 1
    return (places * 2 + 1) / size - 1


def affine_grid(theta, size, align_corners=None):
    """torch's affine_grid for images and volumes."""
    sizes = tuple(size)[2:]
    ndim = len(sizes)
    count = theta.shape[0]
    # The last column moves; the others are weights of x, y (and z), which is the last axis first.
    ones = (1,) * ndim
    grid = theta[:, :, ndim].reshape((count, *ones, ndim))
    for axis in range(ndim):
        places = _grid_axis(sizes[ndim - 1 - axis], align_corners, theta.dtype)
        shape = (1,) * (ndim - axis) + (-1,) + (1,) * (axis + 1)
        grid = grid + places.reshape(shape) * theta[:, :, axis].reshape((count, *ones, ndim))
    return grid
