"""Layers that only move values: padding, folding, shuffling, resizing."""

import operator

from mindspore import nn, ops

from migrate.emit.helpers.functions_interpolate import interpolate
from migrate.emit.helpers.functions_pad import pad
from migrate.emit.helpers.functions_transpose import fold, functional_unfold


def per_axis(value, ndim):
    """One number stands for all axes; numpy's integers are numbers."""
    if isinstance(value, int):
        return (value,) * ndim
    if not isinstance(value, (tuple, list)):
        return (operator.index(value),) * ndim
    sizes = tuple(n if isinstance(n, int) else operator.index(n) for n in value)
    return sizes * ndim if len(sizes) == 1 else sizes


class _PadNd(nn.Cell):
    """Pads the last `ndim` axes; the widths are given last axis first, as in torch."""

    def __init__(self, padding, ndim, mode, value=None):
        super().__init__()
        self.padding = (padding,) * (2 * ndim) if isinstance(padding, int) else tuple(padding)
        self.mode = mode
        self.value = value

    def construct(self, input):
        if self.mode == "circular" and input.ndim * 2 - len(self.padding) == 2:
            return ops.pad(input.expand_dims(0), self.padding, mode=self.mode).squeeze(0)
        if self.mode == "constant":
            return pad(input, self.padding, value=self.value)
        return ops.pad(input, self.padding, mode=self.mode)


class CircularPad1d(_PadNd):
    """Wraps the last axis round."""

    def __init__(self, padding):
        super().__init__(padding, 1, "circular")


class CircularPad2d(_PadNd):
    """Wraps the last two axes round."""

    def __init__(self, padding):
        super().__init__(padding, 2, "circular")


class CircularPad3d(_PadNd):
    """Wraps the last three axes round."""

    def __init__(self, padding):
        super().__init__(padding, 3, "circular")


class ConstantPad1d(_PadNd):
    """Pads the last axis with one value."""

    def __init__(self, padding, value):
        super().__init__(padding, 1, "constant", value)


class ConstantPad2d(_PadNd):
    """Pads the last two axes with one value."""

    def __init__(self, padding, value):
        super().__init__(padding, 2, "constant", value)


class ConstantPad3d(_PadNd):
    """Pads the last three axes with one value."""

    def __init__(self, padding, value):
        super().__init__(padding, 3, "constant", value)


class ZeroPad1d(_PadNd):
    """Pads the last axis with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 1, "constant", 0)


class ZeroPad2d(_PadNd):
    """Pads the last two axes with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 2, "constant", 0)


class ZeroPad3d(_PadNd):
    """Pads the last three axes with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 3, "constant", 0)


class Upsample(nn.Cell):
    """Resizes to a size or by a factor, exactly as torch does in every mode."""

    def __init__(
        self,
        size=None,
        scale_factor=None,
        mode="nearest",
        align_corners=None,
        recompute_scale_factor=None,
    ):
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def construct(self, input):
        return interpolate(
            input,
            size=self.size,
            scale_factor=self.scale_factor,
            mode=self.mode,
            align_corners=self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )


class UpsamplingBilinear2d(Upsample):
    """Bilinear, with the corners aligned."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "bilinear", align_corners=True)


class UpsamplingNearest2d(Upsample):
    """Nearest neighbour."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "nearest")


class Fold(nn.Cell):
    """Sums sliding blocks back into an image, batched or not."""

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def construct(self, input):
        return fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )


class Unfold(nn.Cell):
    """Cuts sliding blocks out of an image, batched or not."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size = per_axis(kernel_size, 2)
        self.dilation = per_axis(dilation, 2)
        self.padding = per_axis(padding, 2)
        self.stride = per_axis(stride, 2)

    def construct(self, input):
        return functional_unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


def single(x):
    """torch's _single: one number as a tuple of one."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def pair(x):
    """torch's _pair: one number for two axes."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,) * 2


def triple(x):
    """torch's _triple: one number for three axes."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,) * 3


def quadruple(x):
    """torch's _quadruple: one number for four."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,) * 4
