"""Transposed convolutions and fold, as torch defines them."""

import mindspore
from mindspore import ops

from migrate.emit.helpers.functions_constant_pad import constant_pad
from migrate.emit.helpers.functions_convolution import _conv_sizes


def _spread_axis(x, axis, stride):
    """Put stride - 1 zeros after every element of an axis."""
    if stride == 1:
        return x
    zeros = ops.zeros((*x.shape[: axis + 1], stride - 1, *x.shape[axis + 1 :]), x.dtype)
    wide = ops.cat((x.expand_dims(axis + 1), zeros), axis=axis + 1)
    return wide.reshape((*x.shape[:axis], -1, *x.shape[axis + 1 :]))


def _pad_or_crop(x, axis, before, after):
    """Pad one axis with zeros; a negative number takes elements away."""
    if before < 0 or after < 0:
        last = x.shape[axis] + min(after, 0)
        x = x[(slice(None),) * axis + (slice(max(-before, 0), last),)]
    if before > 0 or after > 0:
        pads = (0, 0) * (x.ndim - axis - 1) + (max(before, 0), max(after, 0))
        x = constant_pad(x, pads)
    return x


def _transposed(input, weight, stride, padding, output_padding, groups, dilation, ndim):
    """The plain convolution's input and kernel that give the transposed convolution."""
    x = input if input.ndim == ndim + 2 else input.expand_dims(0)
    for axis in range(ndim):
        x = _spread_axis(x, axis + 2, stride[axis])
        edge = dilation[axis] * (weight.shape[axis + 2] - 1) - padding[axis]
        # The zeros after the last element are part of the spread-out input: take them off again.
        x = _pad_or_crop(x, axis + 2, edge, edge + output_padding[axis] - (stride[axis] - 1))
    kernel = weight.reshape((groups, weight.shape[0] // groups, *weight.shape[1:]))
    kernel = kernel.swapaxes(1, 2).reshape((-1, weight.shape[0] // groups, *weight.shape[2:]))
    return x, ops.flip(kernel, tuple(range(2, ndim + 2)))


def conv_transpose1d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """torch's conv_transpose1d, as conv_transpose2d over a height of one."""
    output = conv_transpose2d(
        (input if input.ndim == 3 else input.expand_dims(0)).expand_dims(2),
        weight.expand_dims(2),
        bias,
        (1, _conv_sizes(stride, 1)[0]),
        (0, _conv_sizes(padding, 1)[0]),
        (0, _conv_sizes(output_padding, 1)[0]),
        groups,
        (1, _conv_sizes(dilation, 1)[0]),
    ).squeeze(2)
    return output if input.ndim == 3 else output.squeeze(0)


def conv_transpose2d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """torch's conv_transpose2d: the input spread out by the stride, then a plain convolution."""
    dilation = _conv_sizes(dilation, 2)
    x, kernel = _transposed(
        input,
        weight,
        _conv_sizes(stride, 2),
        _conv_sizes(padding, 2),
        _conv_sizes(output_padding, 2),
        groups,
        dilation,
        2,
    )
    output = ops.conv2d(x, kernel, bias=bias, pad_mode="valid", dilation=dilation, groups=groups)
    return output if input.ndim == 4 else output.squeeze(0)


def conv_transpose3d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """torch's conv_transpose3d: the input spread out by the stride, then a plain convolution."""
    dilation = _conv_sizes(dilation, 3)
    x, kernel = _transposed(
        input,
        weight,
        _conv_sizes(stride, 3),
        _conv_sizes(padding, 3),
        _conv_sizes(output_padding, 3),
        groups,
        dilation,
        3,
    )
    output = ops.conv3d(x, kernel, bias=bias, pad_mode="valid", dilation=dilation, groups=groups)
    return output if input.ndim == 5 else output.squeeze(0)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """torch's fold: sliding blocks added up to an image."""
    sizes = mindspore.Tensor(_conv_sizes(output_size, 2), mindspore.int32)
    kernel = _conv_sizes(kernel_size, 2)
    columns = input if input.ndim == 3 else input.expand_dims(0)
    columns = columns.reshape((columns.shape[0], -1, kernel[0] * kernel[1], columns.shape[-1]))
    output = ops.col2im(
        columns,
        sizes,
        kernel,
        _conv_sizes(dilation, 2),
        _conv_sizes(padding, 2),
        _conv_sizes(stride, 2),
    )
    return output if input.ndim == 3 else output.squeeze(0)


def _sliding_places(kernel, dilation, stride, counts, width):
    """The flat position of every element of every block, kernel places first."""
    axes = []
    for axis in range(2):
        inside = ops.arange(kernel[axis]).expand_dims(1) * dilation[axis]
        axes.append(inside + ops.arange(counts[axis]) * stride[axis])
    rows = axes[0].expand_dims(1).expand_dims(3) * width
    return (rows + axes[1].expand_dims(0).expand_dims(2)).reshape((-1,))


def functional_unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """torch's unfold by one gather; ops.unfold runs on an Ascend's AI CPU."""
    kernel, dilation = _conv_sizes(kernel_size, 2), _conv_sizes(dilation, 2)
    padding, stride = _conv_sizes(padding, 2), _conv_sizes(stride, 2)
    counts = ()
    for axis in range(2):
        room = input.shape[axis - 2] + 2 * padding[axis] - dilation[axis] * (kernel[axis] - 1)
        counts += ((room - 1) // stride[axis] + 1,)
    columns, count = input.shape[-3] * kernel[0] * kernel[1], counts[0] * counts[1]
    if input.size == 0:
        return ops.zeros(input.shape[:-3] + (columns, count), input.dtype)
    image = input if input.ndim == 4 else input.expand_dims(0)
    if padding != (0, 0):
        image = constant_pad(image, (padding[1], padding[1], padding[0], padding[0]))
    if stride == kernel and dilation == (1, 1):
        image = image[:, :, : counts[0] * kernel[0], : counts[1] * kernel[1]]
        parts = (counts[0], kernel[0], counts[1], kernel[1])
        blocks = ops.transpose(image.reshape(image.shape[:2] + parts), (0, 1, 3, 5, 2, 4))
    else:
        places = _sliding_places(kernel, dilation, stride, counts, image.shape[3])
        blocks = ops.gather(image.reshape(image.shape[:2] + (-1,)), places, 2)
    blocks = blocks.reshape((image.shape[0], columns, count))
    return blocks if input.ndim == 4 else blocks.squeeze(0)
