"""Layers that keep torch's constructor, for places where a class is passed on and called later."""

import mindspore
from mindspore import nn


def _conv_padding(padding, ndim):
    """torch's padding as MindSpore's pad_mode and padding, which names both sides of every axis."""
    if isinstance(padding, str):
        return {"pad_mode": padding, "padding": 0}
    if isinstance(padding, int):
        return {"pad_mode": "pad", "padding": padding}
    if len(padding) == 1:
        return {"pad_mode": "pad", "padding": padding[0]}
    if len(padding) != ndim:
        raise ValueError(f"padding needs one or {ndim} numbers, got {padding}")
    return {"pad_mode": "pad", "padding": tuple(p for p in padding for _ in range(2))}


def _only_zeros(padding_mode):
    """MindSpore convolutions pad with zeros and nothing else."""
    if padding_mode != "zeros":
        raise NotImplementedError(
            f"padding_mode={padding_mode!r}: put nn.{padding_mode.title()}Pad before the layer"
        )


def _kept_share(momentum):
    """torch states the weight of the new batch, MindSpore that of the running value."""
    if momentum is None:
        raise NotImplementedError(
            "momentum=None (a cumulative average) has no counterpart in MindSpore"
        )
    return 1 - momentum


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
        _only_zeros(padding_mode)
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            **_conv_padding(padding, 2),
            dilation=dilation,
            group=groups,
            has_bias=bias,
            dtype=dtype or mindspore.float32,
        )


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
        _only_zeros(padding_mode)
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            **_conv_padding(padding, 3),
            dilation=dilation,
            group=groups,
            has_bias=bias,
            dtype=dtype or mindspore.float32,
        )


class BatchNorm2d(nn.BatchNorm2d):
    """nn.BatchNorm2d with torch's arguments."""

    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
    ):
        super().__init__(
            num_features,
            eps=eps,
            momentum=_kept_share(momentum),
            affine=affine,
            use_batch_statistics=None if track_running_stats else True,
            dtype=dtype or mindspore.float32,
        )


class BatchNorm3d(nn.BatchNorm3d):
    """nn.BatchNorm3d with torch's arguments."""

    def __init__(
        self,
        num_features,
        eps=1e-05,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
    ):
        super().__init__(
            num_features,
            eps=eps,
            momentum=_kept_share(momentum),
            affine=affine,
            use_batch_statistics=None if track_running_stats else True,
            dtype=dtype or mindspore.float32,
        )


class ReLU(nn.ReLU):
    """nn.ReLU with torch's arguments."""

    def __init__(self, inplace=False):
        super().__init__()


class Linear(nn.Dense):
    """nn.Dense with torch's arguments."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__(in_features, out_features, has_bias=bias, dtype=dtype or mindspore.float32)


class Dropout(nn.Dropout):
    """nn.Dropout with torch's arguments: p is the share that is dropped."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__(p=p)
