"""torch.nn.functional convolutions with torch's arguments: any padding, batched or not."""

from mindspore import ops

from migrate.emit.helpers.functions_constant_pad import constant_pad


def _conv_sizes(value, ndim):
    """One number for every spatial axis."""
    if isinstance(value, int):
        return (value,) * ndim
    return (value[0],) * ndim if len(value) == 1 else tuple(value)


def _pad_same(input, weight, padding, dilation, ndim):
    """The padding as numbers. For 'same', torch puts the odd one after the last position."""
    if padding == "valid":
        return input, (0,) * ndim
    if padding != "same":
        return input, _conv_sizes(padding, ndim)
    sizes = ()
    odd = ()
    for axis in range(ndim):
        total = dilation[axis] * (weight.shape[2 + axis] - 1)
        sizes += (total // 2,)
        odd = (0, total % 2, *odd)
    return (constant_pad(input, odd) if sum(odd) > 0 else input), sizes


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """torch's conv1d, as conv2d over a height of one."""
    dilation = _conv_sizes(dilation, 1)
    padded, padding = _pad_same(input, weight, padding, dilation, 1)
    output = ops.conv2d(
        (padded if input.ndim == 3 else padded.expand_dims(0)).expand_dims(2),
        weight.expand_dims(2),
        bias=bias,
        stride=(1, _conv_sizes(stride, 1)[0]),
        pad_mode="pad",
        padding=(0, padding[0]),
        dilation=(1, dilation[0]),
        groups=groups,
    ).squeeze(2)
    return output if input.ndim == 3 else output.squeeze(0)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """torch's conv2d."""
    dilation = _conv_sizes(dilation, 2)
    padded, padding = _pad_same(input, weight, padding, dilation, 2)
    output = ops.conv2d(
        padded if input.ndim == 4 else padded.expand_dims(0),
        weight,
        bias=bias,
        stride=_conv_sizes(stride, 2),
        pad_mode="pad",
        padding=padding,
        dilation=dilation,
        groups=groups,
    )
    return output if input.ndim == 4 else output.squeeze(0)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """torch's conv3d."""
    dilation = _conv_sizes(dilation, 3)
    padded, padding = _pad_same(input, weight, padding, dilation, 3)
    output = ops.conv3d(
        padded if input.ndim == 5 else padded.expand_dims(0),
        weight,
        bias=bias,
        stride=_conv_sizes(stride, 3),
        pad_mode="pad",
        padding=padding,
        dilation=dilation,
        groups=groups,
    )
    return output if input.ndim == 5 else output.squeeze(0)
