"""Max pooling over windows of random position, by torch's rule for where they start."""

from mindspore import nn, ops

from migrate.port.helpers.modules_shape import per_axis


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


class _FractionalMaxPool(nn.Cell):
    """Max pooling over windows that start at random places."""

    spatial = 0

    def __init__(
        self,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        super().__init__()
        self.kernel_size = per_axis(kernel_size, self.spatial)
        self.output_size = None if output_size is None else per_axis(output_size, self.spatial)
        self.output_ratio = output_ratio
        if isinstance(output_ratio, float):
            self.output_ratio = (output_ratio,) * self.spatial
        self.return_indices = return_indices
        self.random_samples = _random_samples

    def construct(self, input):
        batched = input.ndim == self.spatial + 2
        x = input if batched else input.expand_dims(0)
        sizes = x.shape[2:]
        output_size = self.output_size
        if output_size is None:
            output_size = ()
            for i in range(self.spatial):
                output_size += (int(sizes[i] * self.output_ratio[i]),)
        samples = self.random_samples
        if samples is None:
            samples = ops.rand(x.shape[:2] + (self.spatial,))
        count = 1
        for size in sizes:
            count *= size
        place = ops.arange(count).astype("int32").reshape((1, 1, *sizes)).broadcast_to(x.shape)
        split = x.shape[:2]
        for i in range(self.spatial):
            # torch draws for the last axis first in two dimensions, last in three.
            sample = samples[: split[0], :, i if self.spatial == 3 else 1 - i]
            taken = _fractional_places(sample, sizes[i], output_size[i], self.kernel_size[i])
            x = _take_windows(x, 2 + i, taken)
            place = _take_windows(place, 2 + i, taken)
            split += (output_size[i], self.kernel_size[i])
        order = (0, 1, *range(2, len(split), 2), *range(3, len(split), 2))
        x = x.reshape(split).transpose(order).reshape(x.shape[:2] + output_size + (-1,))
        output = ops.amax(x, -1)
        if not self.return_indices:
            return output if batched else output.squeeze(0)
        first = ops.argmax(x, -1, keepdim=True).astype("int32")
        place = place.reshape(split).transpose(order).reshape(x.shape)
        indices = ops.gather_elements(place, -1, first).squeeze(-1).astype("int64")
        return (output, indices) if batched else (output.squeeze(0), indices.squeeze(0))


class FractionalMaxPool2d(_FractionalMaxPool):
    """Fractional max pooling over two axes."""

    spatial = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """Fractional max pooling over three axes."""

    spatial = 3
