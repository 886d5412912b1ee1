"""Layers that only move values: padding, folding, shuffling, resizing."""

import mindspore
from mindspore import Tensor, nn, ops

from migrate.port.helpers.functions_interpolate import interpolate


def per_axis(value, ndim):
    """One number stands for all axes."""
    if isinstance(value, int):
        return (value,) * ndim
    return tuple(value) * ndim if len(value) == 1 else tuple(value)


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
        return ops.pad(input, self.padding, mode=self.mode, value=self.value)


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


class ZeroPad1d(_PadNd):
    """Pads the last axis with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 1, "constant", 0)


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
        self.output_size = Tensor(per_axis(output_size, 2), mindspore.int32)
        self.kernel_size = per_axis(kernel_size, 2)
        self.dilation = per_axis(dilation, 2)
        self.padding = per_axis(padding, 2)
        self.stride = per_axis(stride, 2)

    def construct(self, input):
        blocks = input if input.ndim == 3 else input.expand_dims(0)
        image = ops.fold(
            blocks, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )
        return image if input.ndim == 3 else image.squeeze(0)


class Unfold(nn.Cell):
    """Cuts sliding blocks out of an image, batched or not."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size = per_axis(kernel_size, 2)
        self.dilation = per_axis(dilation, 2)
        self.padding = per_axis(padding, 2)
        self.stride = per_axis(stride, 2)

    def construct(self, input):
        image = input if input.ndim == 4 else input.expand_dims(0)
        blocks = ops.unfold(image, self.kernel_size, self.dilation, self.padding, self.stride)
        return blocks if input.ndim == 4 else blocks.squeeze(0)
