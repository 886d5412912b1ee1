"""torch.nn.functional pooling with torch's arguments: numbers or tuples, batched or not."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_constant_pad import constant_pad

# What ops.MaxPool takes on every device.
_POOLED = (mindspore.float16, mindspore.float32)


def _pool_sizes(value, ndim):
    """One number for every pooled axis."""
    if isinstance(value, int):
        return (value,) * ndim
    return (value[0],) * ndim if len(value) == 1 else tuple(value)


def _pool_stride(stride, kernel, ndim):
    """torch's stride is the kernel size unless given."""
    if stride is None or (not isinstance(stride, int) and len(stride) == 0):
        return kernel
    return _pool_sizes(stride, ndim)


def _with_batch(x, ndim):
    """Add the batch axis that MindSpore's pooling needs."""
    return x if x.ndim == ndim + 2 else x.expand_dims(0)


def _without_batch(x, like, ndim):
    """Undo `_with_batch`."""
    return x if like.ndim == ndim + 2 else x.squeeze(0)


def _pad_both_sides(padding, ndim):
    """A number before and one after each axis."""
    pads = ()
    for amount in _pool_sizes(padding, ndim):
        pads += (amount, amount)
    return pads


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """torch's avg_pool1d, as avg_pool2d over a height of one."""
    kernel = _pool_sizes(kernel_size, 1)
    output = avg_pool2d(
        _with_batch(input, 1).expand_dims(2),
        (1, kernel[0]),
        (1, _pool_stride(stride, kernel, 1)[0]),
        (0, _pool_sizes(padding, 1)[0]),
        ceil_mode,
        count_include_pad,
    )
    return _without_batch(output.squeeze(2), input, 1)


def avg_pool2d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
):
    """torch's avg_pool2d."""
    if input.size == 0:
        one = ops.zeros((1, *input.shape[1:]), input.dtype)
        shape = avg_pool2d(one, kernel_size, stride, padding, ceil_mode).shape
        return ops.zeros((0, *shape[1:]), input.dtype)
    kernel = _pool_sizes(kernel_size, 2)
    output = ops.avg_pool2d(
        _with_batch(input, 2),
        kernel,
        stride=_pool_stride(stride, kernel, 2),
        padding=_pad_both_sides(padding, 2),
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad or divisor_override is not None,
        divisor_override=0 if divisor_override is None else 1,
    )
    output = output if divisor_override is None else output / divisor_override
    return _without_batch(output, input, 2)


def avg_pool3d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
):
    """torch's avg_pool3d."""
    if input.size == 0:
        one = ops.zeros((1, *input.shape[1:]), input.dtype)
        shape = avg_pool3d(one, kernel_size, stride, padding, ceil_mode).shape
        return ops.zeros((0, *shape[1:]), input.dtype)
    kernel = _pool_sizes(kernel_size, 3)
    output = ops.avg_pool3d(
        _with_batch(input, 3),
        kernel,
        stride=_pool_stride(stride, kernel, 3),
        padding=_pad_both_sides(padding, 3),
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad or divisor_override is not None,
        divisor_override=0 if divisor_override is None else 1,
    )
    output = output if divisor_override is None else output / divisor_override
    return _without_batch(output, input, 3)


def _max_windows(input, kernel, stride, padding, ceil_mode):
    """Max pooling of a batch over two or three axes. Padded with -inf first: MindSpore's own padded
    pooling runs on the AI CPU of an Ascend, and the one with positions takes float16 alone there.
    """
    ndim = len(kernel)
    if input.dtype not in _POOLED:
        pool = ops.max_pool2d if ndim == 2 else ops.max_pool3d
        return pool(input, kernel, stride, padding, ceil_mode=ceil_mode)
    pads = ()
    for axis in range(ndim - 1, -1, -1):
        size = input.shape[2 + axis] + 2 * padding[axis]
        after = padding[axis]
        if ceil_mode:
            steps = -((kernel[axis] - size) // stride[axis])
            if steps * stride[axis] >= size - padding[axis]:
                steps -= 1  # a window must begin inside the input or its left padding
            after += max(steps * stride[axis] + kernel[axis] - size, 0)
        pads += (padding[axis], after)
    if pads != (0, 0) * ndim:
        input = constant_pad(input, pads, float("-inf"))
    if ndim == 3:
        return ops.MaxPool3D(kernel_size=kernel, strides=stride, pad_mode="valid")(input)
    return ops.MaxPool(kernel_size=kernel, strides=stride, pad_mode="valid")(input)


def _max_positions(input, kernel, stride, padding, dilation, ceil_mode):
    """Max pooling of a batch over two axes, with positions. Of floats as pooling over a depth of
    one: the operator for two axes takes float16 alone on an Ascend.
    """
    if input.dtype not in _POOLED:
        return ops.max_pool2d(
            input, kernel, stride, padding, dilation, return_indices=True, ceil_mode=ceil_mode
        )
    output, indices = ops.max_pool3d(
        input.expand_dims(2),
        (1, *kernel),
        stride=(1, *stride),
        padding=(0, *padding),
        dilation=(1, *dilation),
        ceil_mode=ceil_mode,
        return_indices=True,
    )
    return output.squeeze(2), indices.squeeze(2)


def max_pool1d(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """torch's max_pool1d, as max_pool2d over a height of one."""
    kernel = _pool_sizes(kernel_size, 1)
    batch = _with_batch(input, 1).expand_dims(2)
    window = (1, kernel[0])
    strides = (1, _pool_stride(stride, kernel, 1)[0])
    pads = (0, _pool_sizes(padding, 1)[0])
    dense = dilation == 1 or _pool_sizes(dilation, 1)[0] == 1
    if dense and not return_indices:
        output = _max_windows(batch, window, strides, pads, ceil_mode)
        return _without_batch(output.squeeze(2), input, 1)
    spread = _pool_sizes(dilation, 1)[0]
    output, indices = _max_positions(batch, window, strides, pads, (1, spread), ceil_mode)
    output = _without_batch(output.squeeze(2), input, 1)
    if return_indices:
        return output, _without_batch(indices.squeeze(2), input, 1).astype(mindspore.int64)
    return output


def max_pool2d(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """torch's max_pool2d."""
    kernel = _pool_sizes(kernel_size, 2)
    strides = _pool_stride(stride, kernel, 2)
    pads = _pool_sizes(padding, 2)
    batch = _with_batch(input, 2)
    dense = dilation == 1 or _pool_sizes(dilation, 2) == (1, 1)
    if dense and not return_indices:
        return _without_batch(_max_windows(batch, kernel, strides, pads, ceil_mode), input, 2)
    spread = _pool_sizes(dilation, 2)
    output, indices = _max_positions(batch, kernel, strides, pads, spread, ceil_mode)
    output = _without_batch(output, input, 2)
    if return_indices:
        return output, _without_batch(indices, input, 2).astype(mindspore.int64)
    return output


def max_pool3d(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """torch's max_pool3d."""
    kernel = _pool_sizes(kernel_size, 3)
    strides = _pool_stride(stride, kernel, 3)
    pads = _pool_sizes(padding, 3)
    batch = _with_batch(input, 3)
    dense = dilation == 1 or _pool_sizes(dilation, 3) == (1, 1, 1)
    if dense and not return_indices:
        return _without_batch(_max_windows(batch, kernel, strides, pads, ceil_mode), input, 3)
    output, indices = ops.max_pool3d(
        batch,
        kernel,
        stride=strides,
        padding=pads,
        dilation=_pool_sizes(dilation, 3),
        ceil_mode=ceil_mode,
        return_indices=True,
    )
    output = _without_batch(output, input, 3)
    if return_indices:
        return output, _without_batch(indices, input, 3).astype(mindspore.int64)
    return output


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """torch's lp_pool1d."""
    kernel = _pool_sizes(kernel_size, 1)
    total = avg_pool1d(input**norm_type, kernel, stride, 0, ceil_mode)
    return _lp_root(total, kernel[0], norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """torch's lp_pool2d."""
    kernel = _pool_sizes(kernel_size, 2)
    total = avg_pool2d(input**norm_type, kernel, stride, 0, ceil_mode)
    return _lp_root(total, kernel[0] * kernel[1], norm_type)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """torch's lp_pool3d."""
    kernel = _pool_sizes(kernel_size, 3)
    total = avg_pool3d(input**norm_type, kernel, stride, 0, ceil_mode)
    return _lp_root(total, kernel[0] * kernel[1] * kernel[2], norm_type)


def _lp_root(mean, count, norm_type):
    """The p-th root of the sum; torch computes it from the mean, and keeps its sign."""
    return (ops.sign(mean) * ops.abs(mean) * count) ** (1.0 / norm_type)
