"""ResNet-18/34/50/101/152 for image classification (He et al., 2015).

The bottleneck strides in its 3x3 convolution rather than in the first 1x1: nothing of the input
is skipped, which is worth about half a percent of top-1. Parameter names follow the usual layout
(`conv1`, `layer1.0.bn2`, `layer2.0.downsample.0`, `fc`), so public checkpoints load as they are.
"""

from __future__ import annotations

from collections.abc import Callable

from mindspore import Tensor, nn, ops
from mindspore.common.initializer import HeNormal, initializer
import ms_migrate_helpers as helpers

# Anything that makes a normalisation layer from a channel count: a class, or a partial of one.
NormLayer = Callable[[int], nn.Cell]


def conv3x3(in_channels: int, out_channels: int, stride: int = 1) -> nn.Conv2d:
    """A padded 3x3 convolution; the normalisation that follows it makes a bias redundant."""
    return nn.Conv2d(
        in_channels,
        out_channels,
        kernel_size=3,
        stride=stride,
        pad_mode="pad",
        padding=1,
        has_bias=False,
    )


def conv1x1(in_channels: int, out_channels: int, stride: int = 1) -> nn.Conv2d:
    """A 1x1 convolution, to change the number of channels or the resolution."""
    return nn.Conv2d(
        in_channels, out_channels, kernel_size=1, stride=stride, has_bias=False, pad_mode="pad"
    )


class BasicBlock(nn.Cell):
    """Two 3x3 convolutions and a shortcut: the block of ResNet-18 and ResNet-34."""

    expansion = 1

    def __init__(
        self,
        in_channels: int,
        width: int,
        stride: int = 1,
        downsample: nn.Cell | None = None,
        norm_layer: NormLayer = nn.BatchNorm2d,
    ) -> None:
        super().__init__()
        self.conv1 = conv3x3(in_channels, width, stride)
        self.bn1 = norm_layer(width)
        self.conv2 = conv3x3(width, width)
        self.bn2 = norm_layer(width)
        self.relu = nn.ReLU()
        self.downsample = downsample

    def construct(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += shortcut
        return self.relu(out)


class Bottleneck(nn.Cell):
    """1x1 down, 3x3, 1x1 up and a shortcut: the block of ResNet-50 and deeper."""

    expansion = 4

    def __init__(
        self,
        in_channels: int,
        width: int,
        stride: int = 1,
        downsample: nn.Cell | None = None,
        norm_layer: NormLayer = nn.BatchNorm2d,
    ) -> None:
        super().__init__()
        out_channels = width * self.expansion
        self.conv1 = conv1x1(in_channels, width)
        self.bn1 = norm_layer(width)
        self.conv2 = conv3x3(width, width, stride)
        self.bn2 = norm_layer(width)
        self.conv3 = conv1x1(width, out_channels)
        self.bn3 = norm_layer(out_channels)
        self.relu = nn.ReLU()
        self.downsample = downsample

    def construct(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += shortcut
        return self.relu(out)


class ResNet(nn.Cell):
    """A strided stem, four stages of residual blocks, global average pooling, one linear layer."""

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        depths: tuple[int, int, int, int],
        num_classes: int = 1000,
        zero_init_residual: bool = True,
        norm_layer: NormLayer | None = None,
    ) -> None:
        super().__init__()
        self.norm_layer = nn.BatchNorm2d if norm_layer is None else norm_layer
        self.channels = 64

        self.conv1 = nn.Conv2d(
            3, self.channels, kernel_size=7, stride=2, pad_mode="pad", padding=3, has_bias=False
        )
        self.bn1 = self.norm_layer(self.channels)
        self.relu = nn.ReLU()
        self.maxpool = helpers.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_stage(block, 64, depths[0], stride=1)
        self.layer2 = self._make_stage(block, 128, depths[1], stride=2)
        self.layer3 = self._make_stage(block, 256, depths[2], stride=2)
        self.layer4 = self._make_stage(block, 512, depths[3], stride=2)
        self.avgpool = helpers.GlobalAvgPool2d()
        self.fc = nn.Dense(512 * block.expansion, num_classes)

        self._init_weights(zero_init_residual)

    def _make_stage(
        self, block: type[BasicBlock] | type[Bottleneck], width: int, depth: int, stride: int
    ) -> nn.SequentialCell:
        """Stack `depth` blocks; only the first one may change resolution and channels."""
        out_channels = width * block.expansion
        downsample = None
        if stride != 1 or self.channels != out_channels:
            downsample = nn.SequentialCell(
                conv1x1(self.channels, out_channels, stride), self.norm_layer(out_channels)
            )
        blocks = [block(self.channels, width, stride, downsample, self.norm_layer)]
        self.channels = out_channels
        for _ in range(1, depth):
            blocks.append(block(self.channels, width, norm_layer=self.norm_layer))
        return nn.SequentialCell(*blocks)

    def _init_weights(self, zero_init_residual: bool) -> None:
        for _, module in self.cells_and_names():
            if isinstance(module, nn.Conv2d):
                module.weight.set_data(
                    initializer(
                        HeNormal(negative_slope=0, mode="fan_out", nonlinearity="relu"),
                        module.weight.shape,
                        module.weight.dtype,
                    )
                )
            elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)) and module.gamma.requires_grad:
                module.gamma.set_data(initializer(1, module.gamma.shape, module.gamma.dtype))
                module.beta.set_data(initializer(0, module.beta.shape, module.beta.dtype))

        if not zero_init_residual:
            return
        # With its last scale at zero every block starts as the identity, which lets large
        # learning rates in early (Goyal et al., 2017).
        for _, module in self.cells_and_names():
            if isinstance(module, Bottleneck) and module.bn3.gamma is not None:
                module.bn3.gamma.set_data(
                    initializer("zeros", module.bn3.gamma.shape, module.bn3.gamma.dtype)
                )
            elif isinstance(module, BasicBlock) and module.bn2.gamma is not None:
                module.bn2.gamma.set_data(
                    initializer("zeros", module.bn2.gamma.shape, module.bn2.gamma.dtype)
                )

    def construct(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        x = self.layer4(x)
        x = self.avgpool(x)
        x = ops.flatten(x, start_dim=1)
        return self.fc(x)


def resnet18(num_classes: int = 1000, norm_layer: NormLayer | None = None) -> ResNet:
    return ResNet(BasicBlock, (2, 2, 2, 2), num_classes, norm_layer=norm_layer)


def resnet34(num_classes: int = 1000, norm_layer: NormLayer | None = None) -> ResNet:
    return ResNet(BasicBlock, (3, 4, 6, 3), num_classes, norm_layer=norm_layer)


def resnet50(num_classes: int = 1000, norm_layer: NormLayer | None = None) -> ResNet:
    return ResNet(Bottleneck, (3, 4, 6, 3), num_classes, norm_layer=norm_layer)


def resnet101(num_classes: int = 1000, norm_layer: NormLayer | None = None) -> ResNet:
    return ResNet(Bottleneck, (3, 4, 23, 3), num_classes, norm_layer=norm_layer)


def resnet152(num_classes: int = 1000, norm_layer: NormLayer | None = None) -> ResNet:
    return ResNet(Bottleneck, (3, 8, 36, 3), num_classes, norm_layer=norm_layer)
