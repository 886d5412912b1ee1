"""Max pooling over windows of random position, by torch's rule for where they start."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.modules_shape import per_axis


def _fractional_places(sample, size_in, size_out, kernel):
    """Positions of all window elements along one axis; the last window ends at the edge."""
    window = ops.arange(size_out)
    step = (size_in - kernel) / (size_out - 1) if size_out > 1 else 0.0
    sample = sample.expand_dims(-1)
    start = ops.floor((window + sample) * step) - ops.floor(sample * step)
    start = ops.where(window == size_out - 1, float(size_in - kernel), start).astype("int32")
    places = start.expand_dims(-1) + ops.arange(kernel).astype("int32")
    return places.reshape(sample.shape[:2] + (-1,))


def _take_windows(x, axis, places):
    """The elements of all windows along one axis, side by side."""
    shape = places.shape[:2] + (1,) * (axis - 2) + (-1,) + (1,) * (x.ndim - axis - 1)
    index = places.reshape(shape).broadcast_to(x.shape[:axis] + (-1,) + x.shape[axis + 1 :])
    return ops.gather_elements(x, axis, index)


def _fractional_max_pool(input, kernel_size, output_size, output_ratio, samples, spatial):
    """Maximum and flat position of windows that start at random places."""
    batched = input.ndim == spatial + 2
    x = input if batched else input.expand_dims(0)
    kernel, sizes = per_axis(kernel_size, spatial), x.shape[2:]
    if output_size is None:
        ratio = (output_ratio,) * spatial if isinstance(output_ratio, float) else output_ratio
        wanted = ()
        for i in range(spatial):
            wanted += (int(sizes[i] * ratio[i]),)
    else:
        wanted = per_axis(output_size, spatial)
    if x.size == 0:
        shape = x.shape[:2] + wanted
        return ops.zeros(shape, x.dtype), ops.zeros(shape, mindspore.int64)
    if samples is None:
        samples = ops.rand(x.shape[:2] + (spatial,))
    count = 1
    for size in sizes:
        count *= size
    place = ops.arange(count).astype("int32").reshape((1, 1, *sizes)).broadcast_to(x.shape)
    split = x.shape[:2]
    for i in range(spatial):
        # torch draws for the last axis first in two dimensions, last in three.
        sample = samples[: split[0], :, i if spatial == 3 else 1 - i]
        taken = _fractional_places(sample, sizes[i], wanted[i], kernel[i])
        x = _take_windows(x, 2 + i, taken)
        place = _take_windows(place, 2 + i, taken)
        split += (wanted[i], kernel[i])
    order = (0, 1, *range(2, len(split), 2), *range(3, len(split), 2))
    x = x.reshape(split).transpose(order).reshape(x.shape[:2] + wanted + (-1,))
    first = ops.argmax(x, -1, keepdim=True).astype("int32")
    place = place.reshape(split).transpose(order).reshape(x.shape)
    indices = ops.gather_elements(place, -1, first).squeeze(-1).astype("int64")
    output = ops.amax(x, -1)
    return (output, indices) if batched else (output.squeeze(0), indices.squeeze(0))


def fractional_max_pool2d_with_indices(
    input,
    kernel_size,
    output_size=None,
    output_ratio=None,
    return_indices=False,
    _random_samples=None,
):
    """torch's fractional_max_pool2d_with_indices."""
    return _fractional_max_pool(input, kernel_size, output_size, output_ratio, _random_samples, 2)


def fractional_max_pool2d(
    input,
    kernel_size,
    output_size=None,
    output_ratio=None,
    return_indices=False,
    _random_samples=None,
):
    """torch's fractional_max_pool2d."""
    values, places = _fractional_max_pool(
        input, kernel_size, output_size, output_ratio, _random_samples, 2
    )
    return (values, places) if return_indices else values


def fractional_max_pool3d_with_indices(
    input,
    kernel_size,
    output_size=None,
    output_ratio=None,
    return_indices=False,
    _random_samples=None,
):
    """torch's fractional_max_pool3d_with_indices."""
    return _fractional_max_pool(input, kernel_size, output_size, output_ratio, _random_samples, 3)


def fractional_max_pool3d(
    input,
    kernel_size,
    output_size=None,
    output_ratio=None,
    return_indices=False,
    _random_samples=None,
):
    """torch's fractional_max_pool3d."""
    values, places = _fractional_max_pool(
        input, kernel_size, output_size, output_ratio, _random_samples, 3
    )
    return (values, places) if return_indices else values
