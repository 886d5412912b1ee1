"""The feature pyramid of torchvision.ops, with torchvision's child names."""

from mindspore import nn, ops
from mindspore.common.initializer import HeUniform, initializer

from migrate.emit.helpers.modules_conv import Conv2d
from migrate.emit.helpers.vision_blocks import Conv2dNormActivation


def _start_pyramid_conv(conv):
    """torchvision starts these convolutions with kaiming_uniform_(a=1) and no bias."""
    conv.weight.set_data(initializer(HeUniform(1), conv.weight.shape, conv.weight.dtype))
    if conv.bias is not None:
        conv.bias.set_data(initializer("zeros", conv.bias.shape, conv.bias.dtype))


class ExtraFPNBlock(nn.Cell):
    """Base of the blocks that add levels: takes and gives (results, inputs, names) as lists."""

    def construct(self, results, x, names):
        return results, names


class LastLevelMaxPool(ExtraFPNBlock):
    """Add a level "pool": every second pixel of the last one."""

    def construct(self, x, y, names):
        return [*x, x[-1][:, :, ::2, ::2]], [*names, "pool"]


class LastLevelP6P7(ExtraFPNBlock):
    """Add two levels by strided convolutions."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.p6 = Conv2d(in_channels, out_channels, 3, stride=2, padding=1)
        self.p7 = Conv2d(out_channels, out_channels, 3, stride=2, padding=1)
        _start_pyramid_conv(self.p6)
        _start_pyramid_conv(self.p7)
        self.use_P5 = in_channels == out_channels

    def construct(self, p, c, names):
        p6 = self.p6(p[-1] if self.use_P5 else c[-1])
        p7 = self.p7(ops.relu(p6))
        return [*p, p6, p7], [*names, "p6", "p7"]


class FeaturePyramidNetwork(nn.Cell):
    """Top-down pyramid over a dict of feature maps, the finest first."""

    def __init__(self, in_channels_list, out_channels, extra_blocks=None, norm_layer=None):
        super().__init__()
        self.inner_blocks = nn.CellList()
        self.layer_blocks = nn.CellList()
        for in_channels in in_channels_list:
            inner = Conv2dNormActivation(
                in_channels,
                out_channels,
                kernel_size=1,
                norm_layer=norm_layer,
                activation_layer=None,
            )
            layer = Conv2dNormActivation(
                out_channels, out_channels, norm_layer=norm_layer, activation_layer=None
            )
            _start_pyramid_conv(inner[0])
            _start_pyramid_conv(layer[0])
            self.inner_blocks.append(inner)
            self.layer_blocks.append(layer)
        self.extra_blocks = extra_blocks

    def construct(self, x):
        names, maps = list(x.keys()), list(x.values())
        top = self.inner_blocks[-1](maps[-1])
        results = [self.layer_blocks[-1](top)]
        for level in range(len(maps) - 2, -1, -1):
            lateral = self.inner_blocks[level](maps[level])
            top = lateral + ops.interpolate(top, size=lateral.shape[-2:], mode="nearest")
            results = [self.layer_blocks[level](top), *results]
        if self.extra_blocks is not None:
            results, names = self.extra_blocks(results, maps, names)
        outputs = {}
        for index, name in enumerate(names):
            outputs[name] = results[index]
        return outputs
