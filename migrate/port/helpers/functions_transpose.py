"""Transposed convolutions and fold, as torch defines them."""

import mindspore
from mindspore import ops

from migrate.port.helpers.functions_convolution import _conv_sizes


def conv_transpose2d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """torch's conv_transpose2d: the input spread out by the stride, then a plain convolution."""
    stride, padding = _conv_sizes(stride, 2), _conv_sizes(padding, 2)
    extra, dilation = _conv_sizes(output_padding, 2), _conv_sizes(dilation, 2)
    x = input if input.ndim == 4 else input.expand_dims(0)
    batch, channels, height, width = x.shape
    spread = ops.pad(
        x.reshape((batch, channels, height, 1, width, 1)),
        (0, stride[1] - 1, 0, 0, 0, stride[0] - 1),
    ).reshape((batch, channels, height * stride[0], width * stride[1]))
    pads = ()
    for axis in (1, 0):
        edge = dilation[axis] * (weight.shape[2 + axis] - 1) - padding[axis]
        pads += (edge, edge + extra[axis] - (stride[axis] - 1))
    kernel = weight.reshape((groups, channels // groups) + weight.shape[1:]).swapaxes(1, 2)
    kernel = kernel.reshape((-1, channels // groups) + weight.shape[2:])
    output = ops.conv2d(
        ops.pad(spread, pads),
        ops.flip(kernel, (2, 3)),
        bias=bias,
        pad_mode="valid",
        dilation=dilation,
        groups=groups,
    )
    return output if input.ndim == 4 else output.squeeze(0)


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


def conv_transpose3d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """torch's conv_transpose3d: the input spread out by the stride, then a plain convolution."""
    stride, padding = _conv_sizes(stride, 3), _conv_sizes(padding, 3)
    extra, dilation = _conv_sizes(output_padding, 3), _conv_sizes(dilation, 3)
    x = input if input.ndim == 5 else input.expand_dims(0)
    batch, channels = x.shape[:2]
    for axis in range(3):
        x = _spread(x, 2 + axis, stride[axis])
    pads = ()
    for axis in (2, 1, 0):
        edge = dilation[axis] * (weight.shape[2 + axis] - 1) - padding[axis]
        pads += (edge, edge + extra[axis] - (stride[axis] - 1))
    kernel = weight.reshape((groups, channels // groups) + weight.shape[1:]).swapaxes(1, 2)
    kernel = ops.flip(kernel.reshape((-1, channels // groups) + weight.shape[2:]), (2, 3, 4))
    output = ops.conv3d(
        ops.pad(x, pads), kernel, bias=bias, pad_mode="valid", dilation=dilation, groups=groups
    )
    return output if input.ndim == 5 else output.squeeze(0)


def _spread(x, axis, stride):
    """Put stride - 1 zeros after every element of an axis."""
    if stride == 1:
        return x
    zeros = ops.zeros(x.shape + (stride - 1,), x.dtype)
    wide = ops.cat((x.expand_dims(-1), zeros), axis=-1)
    wide = ops.moveaxis(wide, -1, axis + 1)
    return wide.reshape(x.shape[:axis] + (-1,) + x.shape[axis + 1 :])


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
