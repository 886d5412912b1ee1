"""Convolutions with torch's constructors, paddings and unbatched inputs."""

import mindspore
from mindspore import Parameter, nn, ops

from migrate.emit.helpers.modules_reset import own_reset
from migrate.emit.helpers.modules_shape import per_axis


def _conv_padding(padding, padding_mode, ndim):
    """torch's padding as MindSpore's pad_mode and padding, which names both sides of every axis."""
    if padding_mode != "zeros":
        return {"pad_mode": "valid"}
    if isinstance(padding, str):
        return {"pad_mode": padding}
    sides = per_axis(padding, ndim)
    return {
        "pad_mode": "pad",
        "padding": sides[0] if ndim == 1 else tuple(p for p in sides for _ in (0, 1)),
    }


def _edges(padding, padding_mode, kernel_size, dilation, ndim):
    """Widths for ops.pad, last axis first, where the edge is not filled with zeros."""
    if padding_mode == "zeros" or padding == "valid":
        return ()
    if padding == "same":
        sizes = zip(per_axis(kernel_size, ndim), per_axis(dilation, ndim), strict=True)
        widths = [((k - 1) * d // 2, (k - 1) * d - (k - 1) * d // 2) for k, d in sizes]
    else:
        widths = [(p, p) for p in per_axis(padding, ndim)]
    return tuple(width for pair in reversed(widths) for width in pair)


class Conv1d(nn.Conv1d):
    """nn.Conv1d with torch's arguments."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__(
            in_channels,
            out_channels,
            per_axis(kernel_size, 1)[0],
            stride=per_axis(stride, 1)[0],
            **_conv_padding(padding, padding_mode, 1),
            dilation=per_axis(dilation, 1)[0],
            group=groups,
            has_bias=bias,
            dtype=dtype or mindspore.float32,
        )
        self.padding_mode = padding_mode
        self.edges = _edges(padding, padding_mode, kernel_size, dilation, 1)
        own_reset(self)

    def construct(self, x):
        batched = x.ndim == 3
        if not batched:
            x = x.expand_dims(0)
        if self.edges:
            x = ops.pad(x, self.edges, mode=self.padding_mode)
        x = super(Conv1d, self).construct(x)
        return x if batched else x.squeeze(0)


class FlatConv1d(Conv1d):
    """Conv1d with a weight of torch's shape, for programs that look at it."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        full = self.weight.name
        self.weight = Parameter(self.weight.squeeze(2), name=full)

    def construct(self, x):
        batched = x.ndim == 3
        if not batched:
            x = x.expand_dims(0)
        if self.edges:
            x = ops.pad(x, self.edges, mode=self.padding_mode)
        x = self.conv2d(x.expand_dims(2), self.weight.expand_dims(2))
        x = (self.bias_add(x, self.bias) if self.has_bias else x).squeeze(2)
        return x if batched else x.squeeze(0)


class Conv2d(nn.Conv2d):
    """nn.Conv2d with torch's arguments."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__(
            in_channels,
            out_channels,
            per_axis(kernel_size, 2),
            stride=per_axis(stride, 2),
            **_conv_padding(padding, padding_mode, 2),
            dilation=per_axis(dilation, 2),
            group=groups,
            has_bias=bias,
            dtype=dtype or mindspore.float32,
        )
        self.padding_mode = padding_mode
        self.edges = _edges(padding, padding_mode, kernel_size, dilation, 2)
        own_reset(self)

    def construct(self, x):
        batched = x.ndim == 4
        if not batched:
            x = x.expand_dims(0)
        if self.edges:
            x = ops.pad(x, self.edges, mode=self.padding_mode)
        x = super(Conv2d, self).construct(x)
        return x if batched else x.squeeze(0)


class Conv3d(nn.Conv3d):
    """nn.Conv3d with torch's arguments."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__(
            in_channels,
            out_channels,
            per_axis(kernel_size, 3),
            stride=per_axis(stride, 3),
            **_conv_padding(padding, padding_mode, 3),
            dilation=per_axis(dilation, 3),
            group=groups,
            has_bias=bias,
            dtype=dtype or mindspore.float32,
        )
        self.padding_mode = padding_mode
        self.edges = _edges(padding, padding_mode, kernel_size, dilation, 3)
        # nn.Conv3d takes a convolution for each group: a hundred of them are a graph of gigabytes.
        self.grouped = None
        if groups > 1 and mindspore.get_context("device_target") != "Ascend":
            self.grouped = ops.Conv3D(
                out_channels,
                self.kernel_size,
                pad_mode=self.pad_mode,
                pad=self.padding,
                stride=self.stride,
                dilation=self.dilation,
                group=groups,
            )
        own_reset(self)

    def construct(self, x):
        batched = x.ndim == 5
        if not batched:
            x = x.expand_dims(0)
        if self.edges:
            x = ops.pad(x, self.edges, mode=self.padding_mode)
        if self.grouped is not None:
            x = self.grouped(x, self.weight)
            if self.has_bias:
                x = x + self.bias.reshape((1, -1, 1, 1, 1))
        else:
            x = super(Conv3d, self).construct(x)
        return x if batched else x.squeeze(0)
