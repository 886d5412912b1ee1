"""Transposed convolutions with torch's constructors and torch's meaning of output_padding."""

import mindspore
from mindspore import Parameter, nn

from migrate.emit.helpers.modules_shape import per_axis


def _both_sides(padding, ndim):
    return tuple(p for p in per_axis(padding, ndim) for _ in (0, 1))


class ConvTranspose1d(nn.Conv1dTranspose):
    """nn.Conv1dTranspose with torch's arguments, output_padding among them."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__(
            in_channels,
            out_channels,
            per_axis(kernel_size, 1)[0],
            stride=per_axis(stride, 1)[0],
            pad_mode="pad",
            padding=per_axis(padding, 1)[0],
            dilation=per_axis(dilation, 1)[0],
            group=groups,
            has_bias=bias,
            dtype=dtype or mindspore.float32,
        )
        self.output_padding = per_axis(output_padding, 1)

    def kernel(self):
        return self.weight

    def construct(self, x, output_size=None):
        batched = x.ndim == 3
        if not batched:
            x = x.expand_dims(0)
        if output_size is None:
            reach = self.dilation[1] * (self.kernel_size[1] - 1) + 1 - 2 * self.padding[2]
            length = (x.shape[2] - 1) * self.stride[1] + reach + self.output_padding[0]
        else:
            length = output_size[-1]
        size = (x.shape[0], self.out_channels, 1, length)
        x = self.conv2d_transpose(x.expand_dims(2), self.kernel(), size).squeeze(2)
        if self.has_bias:
            x = x + self.bias.reshape((1, -1, 1))
        return x if batched else x.squeeze(0)


class FlatConvTranspose1d(ConvTranspose1d):
    """ConvTranspose1d with a weight of torch's shape, for programs that look at it."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        full = self.weight.name
        self.weight = Parameter(self.weight.squeeze(2), name=full)

    def kernel(self):
        return self.weight.expand_dims(2)


class ConvTranspose2d(nn.Conv2dTranspose):
    """nn.Conv2dTranspose with torch's arguments and torch's meaning of output_padding."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__(
            in_channels,
            out_channels,
            per_axis(kernel_size, 2),
            stride=per_axis(stride, 2),
            pad_mode="pad",
            padding=_both_sides(padding, 2),
            dilation=per_axis(dilation, 2),
            group=groups,
            has_bias=bias,
            dtype=dtype or mindspore.float32,
        )
        self.output_padding = per_axis(output_padding, 2)

    def kernel(self):
        return self.weight

    def construct(self, x, output_size=None):
        batched = x.ndim == 4
        if not batched:
            x = x.expand_dims(0)
        size = (x.shape[0], self.out_channels)
        if output_size is None:
            for i in range(2):
                reach = self.dilation[i] * (self.kernel_size[i] - 1) + 1 - 2 * self.padding[2 * i]
                size += ((x.shape[2 + i] - 1) * self.stride[i] + reach + self.output_padding[i],)
        else:
            size += (output_size[-2], output_size[-1])
        x = self.conv2d_transpose(x, self.kernel(), size)
        if self.has_bias:
            x = self.bias_add(x, self.bias)
        return x if batched else x.squeeze(0)


class ConvTranspose3d(nn.Conv3dTranspose):
    """nn.Conv3dTranspose with torch's arguments."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__(
            in_channels,
            out_channels,
            per_axis(kernel_size, 3),
            stride=per_axis(stride, 3),
            pad_mode="pad",
            padding=_both_sides(padding, 3),
            dilation=per_axis(dilation, 3),
            group=groups,
            output_padding=per_axis(output_padding, 3),
            has_bias=bias,
            dtype=dtype or mindspore.float32,
        )

    def construct(self, x):
        batched = x.ndim == 5
        if not batched:
            x = x.expand_dims(0)
        x = super(ConvTranspose3d, self).construct(x)
        return x if batched else x.squeeze(0)
