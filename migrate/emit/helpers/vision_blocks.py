"""torchvision.ops building blocks as Cells, with torchvision's constructors and child names."""

import mindspore
from mindspore import Parameter, nn, ops

from migrate.emit.helpers.modules_conv import Conv2d, Conv3d
from migrate.emit.helpers.modules_norm import BatchNorm2d, BatchNorm3d
from migrate.emit.helpers.torch_signature import Dropout, Linear, ReLU


def _one_per_axis(value, ndim):
    """An int stands for the same number on every axis."""
    return (value,) * ndim if isinstance(value, int) else tuple(value)


class ConvNormActivation(nn.SequentialCell):
    """Convolution, normalisation, activation; the default padding keeps the size at stride 1."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size=3,
        stride=1,
        padding=None,
        groups=1,
        norm_layer=BatchNorm2d,
        activation_layer=ReLU,
        dilation=1,
        inplace=True,
        bias=None,
        conv_layer=Conv2d,
    ):
        if padding is None and isinstance(kernel_size, int) and isinstance(dilation, int):
            padding = (kernel_size - 1) // 2 * dilation
        elif padding is None:
            ndim = max(1 if isinstance(v, int) else len(v) for v in (kernel_size, dilation))
            sizes = zip(
                _one_per_axis(kernel_size, ndim), _one_per_axis(dilation, ndim), strict=True
            )
            padding = tuple((size - 1) // 2 * step for size, step in sizes)
        layers = [
            conv_layer(
                in_channels,
                out_channels,
                kernel_size,
                stride=stride,
                padding=padding,
                dilation=dilation,
                groups=groups,
                bias=norm_layer is None if bias is None else bias,
            )
        ]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(
                activation_layer() if inplace is None else activation_layer(inplace=inplace)
            )
        super().__init__(*layers)
        self.out_channels = out_channels


class Conv2dNormActivation(ConvNormActivation):
    """The block over images."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size=3,
        stride=1,
        padding=None,
        groups=1,
        norm_layer=BatchNorm2d,
        activation_layer=ReLU,
        dilation=1,
        inplace=True,
        bias=None,
    ):
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            groups=groups,
            norm_layer=norm_layer,
            activation_layer=activation_layer,
            dilation=dilation,
            inplace=inplace,
            bias=bias,
            conv_layer=Conv2d,
        )


class Conv3dNormActivation(ConvNormActivation):
    """The block over videos."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size=3,
        stride=1,
        padding=None,
        groups=1,
        norm_layer=BatchNorm3d,
        activation_layer=ReLU,
        dilation=1,
        inplace=True,
        bias=None,
    ):
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            groups=groups,
            norm_layer=norm_layer,
            activation_layer=activation_layer,
            dilation=dilation,
            inplace=inplace,
            bias=bias,
            conv_layer=Conv3d,
        )


class SqueezeExcitation(nn.Cell):
    """Weigh every channel by a small network over the channel means."""

    def __init__(
        self, input_channels, squeeze_channels, activation=ReLU, scale_activation=nn.Sigmoid
    ):
        super().__init__()
        self.avgpool = ops.ReduceMean(keep_dims=True)
        self.fc1 = Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = Conv2d(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def _scale(self, input):
        scale = self.avgpool(input, (2, 3))
        scale = self.activation(self.fc1(scale))
        return self.scale_activation(self.fc2(scale))

    def construct(self, input):
        return self._scale(input) * input


class MLP(nn.SequentialCell):
    """Linear layers, each followed by dropout, the inner ones by normalisation and activation."""

    def __init__(
        self,
        in_channels,
        hidden_channels,
        norm_layer=None,
        activation_layer=ReLU,
        inplace=None,
        bias=True,
        dropout=0.0,
    ):
        layers = []
        for width in hidden_channels[:-1]:
            layers.append(Linear(in_channels, width, bias=bias))
            if norm_layer is not None:
                layers.append(norm_layer(width))
            layers.append(
                activation_layer() if inplace is None else activation_layer(inplace=inplace)
            )
            layers.append(Dropout(dropout))
            in_channels = width
        layers.append(Linear(in_channels, hidden_channels[-1], bias=bias))
        layers.append(Dropout(dropout))
        super().__init__(*layers)


class Permute(nn.Cell):
    """Reorder the axes, as a layer."""

    def __init__(self, dims):
        super().__init__()
        self.dims = tuple(dims)

    def construct(self, x):
        return ops.transpose(x, self.dims)


class FrozenBatchNorm2d(nn.Cell):
    """BatchNorm2d whose scale, shift and statistics never change."""

    def __init__(self, num_features, eps=1e-05):
        super().__init__()
        self.eps = eps
        self.weight = Parameter(ops.ones((num_features,), mindspore.float32), requires_grad=False)
        self.bias = Parameter(ops.zeros((num_features,), mindspore.float32), requires_grad=False)
        self.running_mean = Parameter(
            ops.zeros((num_features,), mindspore.float32), requires_grad=False
        )
        self.running_var = Parameter(
            ops.ones((num_features,), mindspore.float32), requires_grad=False
        )

    def construct(self, x):
        scale = self.weight / ops.sqrt(self.running_var + self.eps)
        shift = self.bias - self.running_mean * scale
        return x * scale.reshape((1, -1, 1, 1)) + shift.reshape((1, -1, 1, 1))
