"""torch's max_unpool by one scatter; MindSpore's operators run on an Ascend's AI CPU."""

from mindspore import ops

from migrate.emit.helpers.functions_convolution import _conv_sizes


def _unpooled_sizes(input, kernel_size, stride, padding, output_size, ndim):
    """The sizes of the output's planes: computed, or checked where they are given."""
    kernel = _conv_sizes(kernel_size, ndim)
    stride = kernel if stride is None else _conv_sizes(stride, ndim)
    padding = _conv_sizes(padding, ndim)
    sizes = ()
    for axis in range(ndim):
        size = (input.shape[axis - ndim] - 1) * stride[axis] - 2 * padding[axis] + kernel[axis]
        if output_size is not None:
            given = output_size[axis - ndim]
            if not size - stride[axis] < given < size + stride[axis]:
                raise ValueError(f"max_unpool cannot give {given} elements where {size} are usual")
            size = given
        sizes += (size,)
    return sizes


def _max_unpool(input, indices, sizes):
    """Every value at its place, zeros elsewhere."""
    ndim = len(sizes)
    planes = input.shape[: input.ndim - ndim]
    count = 1
    for size in sizes:
        count *= size
    values = input.reshape((*planes, -1))
    zeros = ops.zeros((*planes, count), input.dtype)
    flat = ops.tensor_scatter_elements(zeros, indices.reshape(values.shape), values, axis=-1)
    return flat.reshape((*planes, *sizes))


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """torch's max_unpool1d."""
    sizes = _unpooled_sizes(input, kernel_size, stride, padding, output_size, 1)
    return _max_unpool(input, indices, sizes)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """torch's max_unpool2d."""
    sizes = _unpooled_sizes(input, kernel_size, stride, padding, output_size, 2)
    return _max_unpool(input, indices, sizes)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """torch's max_unpool3d."""
    sizes = _unpooled_sizes(input, kernel_size, stride, padding, output_size, 3)
    return _max_unpool(input, indices, sizes)
