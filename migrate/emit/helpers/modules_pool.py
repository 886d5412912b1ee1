"""Pooling layers as torch has them, where MindSpore's restrict sizes or lack a kernel."""

from mindspore import nn

from migrate.emit.helpers.functions_adaptive import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool3d,
)
from migrate.emit.helpers.functions_pooling import (
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool2d,
)


class AdaptiveAvgPool1d(nn.AdaptiveAvgPool1d):
    """nn.AdaptiveAvgPool1d for sizes that do not divide, batched or not."""

    def __init__(self, output_size):
        super().__init__(output_size if isinstance(output_size, int) else output_size[0])

    def construct(self, input):
        return adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(nn.AdaptiveAvgPool2d):
    """nn.AdaptiveAvgPool2d with kernels that every device has."""

    def __init__(self, output_size):
        super().__init__(tuple(output_size) if isinstance(output_size, list) else output_size)
        self.output_size = output_size

    def construct(self, input):
        return adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(nn.AdaptiveAvgPool3d):
    """nn.AdaptiveAvgPool3d with kernels that every device has."""

    def __init__(self, output_size):
        super().__init__(tuple(output_size) if isinstance(output_size, list) else output_size)
        self.output_size = output_size

    def construct(self, input):
        return adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool1d(nn.AdaptiveMaxPool1d):
    """nn.AdaptiveMaxPool1d for sizes that do not divide, with indices on request."""

    def __init__(self, output_size, return_indices=False):
        super().__init__(output_size if isinstance(output_size, int) else output_size[0])
        self.return_indices = return_indices

    def construct(self, input):
        return adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(nn.Cell):
    """Adaptive max pooling over three axes, any of which may keep its size."""

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def construct(self, input):
        return adaptive_max_pool3d(input, self.output_size, self.return_indices)


def _pool_arguments(kernel_size, stride, pooled):
    """torch strides by the kernel and pads every side; MindSpore must be told both."""
    arguments = {
        "kernel_size": kernel_size if isinstance(kernel_size, int) else tuple(kernel_size),
        "stride": stride if isinstance(stride, int) else tuple(stride or ()),
    }
    if stride is None:
        arguments["stride"] = arguments["kernel_size"]
    plain = {"padding": 0, "dilation": 1, "return_indices": False, "ceil_mode": False}
    plain.update({"count_include_pad": True, "divisor_override": None})
    if any(value != plain[name] for name, value in pooled.items()):
        tuples = {n: tuple(v) if isinstance(v, list) else v for n, v in pooled.items()}
        arguments.update(tuples, pad_mode="pad")
    return arguments


class MaxPool1d(nn.MaxPool1d):
    """nn.MaxPool1d with torch's arguments."""

    def __init__(
        self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False
    ):
        super().__init__(**_pool_arguments(kernel_size, stride, {}))
        self.window, self.step = kernel_size, stride
        self.edges, self.spread = padding, dilation
        self.with_positions, self.rounded_up = return_indices, ceil_mode

    def construct(self, x):
        return max_pool1d(
            x, self.window, self.step, self.edges, self.spread, self.rounded_up, self.with_positions
        )


class MaxPool2d(nn.MaxPool2d):
    """nn.MaxPool2d with torch's arguments."""

    def __init__(
        self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False
    ):
        super().__init__(**_pool_arguments(kernel_size, stride, {}))
        self.window, self.step = kernel_size, stride
        self.edges, self.spread = padding, dilation
        self.with_positions, self.rounded_up = return_indices, ceil_mode

    def construct(self, x):
        return max_pool2d(
            x, self.window, self.step, self.edges, self.spread, self.rounded_up, self.with_positions
        )


class MaxPool3d(nn.MaxPool3d):
    """nn.MaxPool3d with torch's arguments."""

    def __init__(
        self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False
    ):
        pooled = {"padding": padding, "dilation": dilation}
        pooled.update(return_indices=return_indices, ceil_mode=ceil_mode)
        super().__init__(**_pool_arguments(kernel_size, stride, pooled))


class AvgPool1d(nn.AvgPool1d):
    """nn.AvgPool1d with torch's arguments."""

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
    ):
        pooled = {"padding": padding, "ceil_mode": ceil_mode}
        pooled.update(count_include_pad=count_include_pad)
        super().__init__(**_pool_arguments(kernel_size, stride, pooled))


class AvgPool2d(nn.AvgPool2d):
    """nn.AvgPool2d with torch's arguments."""

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        pooled = {"padding": padding, "ceil_mode": ceil_mode}
        pooled.update(count_include_pad=count_include_pad, divisor_override=divisor_override)
        super().__init__(**_pool_arguments(kernel_size, stride, pooled))


class AvgPool3d(nn.AvgPool3d):
    """nn.AvgPool3d with torch's arguments."""

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        pooled = {"padding": padding, "ceil_mode": ceil_mode}
        pooled.update(count_include_pad=count_include_pad, divisor_override=divisor_override)
        super().__init__(**_pool_arguments(kernel_size, stride, pooled))


class LPPool1d(nn.Cell):
    """Power-average pooling over one axis."""

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def construct(self, input):
        return lp_pool1d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(LPPool1d):
    """Power-average pooling over two axes."""

    def construct(self, input):
        return lp_pool2d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(LPPool1d):
    """Power-average pooling over three axes."""

    def construct(self, input):
        return lp_pool3d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
