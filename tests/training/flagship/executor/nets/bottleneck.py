"""A small residual network with bottlenecks."""

from typing import Callable, List, Optional, Type

import torch
from torch import Tensor, nn


def conv3x3(inputs: int, outputs: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel_size=3, stride=stride, padding=1, bias=False)


class Bottleneck(nn.Module):
    widening: int = 2

    def __init__(
        self,
        inputs: int,
        width: int,
        stride: int = 1,
        norm_layer: Optional[Callable[..., nn.Module]] = None,
    ):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        outputs = width * self.widening
        self.reduce = nn.Conv2d(inputs, width, 1, bias=False)
        self.norm1 = norm_layer(width)
        self.conv = conv3x3(width, width, stride)
        self.norm2 = norm_layer(width)
        self.expand = nn.Conv2d(width, outputs, 1, bias=False)
        self.norm3 = norm_layer(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), norm_layer(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        kept = x if self.shortcut is None else self.shortcut(x)
        x = self.relu(self.norm1(self.reduce(x)))
        x = self.relu(self.norm2(self.conv(x)))
        x = self.norm3(self.expand(x))
        x += kept
        return self.relu(x)


class BottleneckNet(nn.Module):
    def __init__(
        self,
        num_classes: int,
        widths: List[int] = (8, 16),
        block: Type[Bottleneck] = Bottleneck,
    ):
        super().__init__()
        self.stem = nn.Sequential(
            conv3x3(3, 8), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, padding=1)
        )
        stages, inputs = [], 8
        for place, width in enumerate(widths):
            stages.append(block(inputs, width, stride=1 if place == 0 else 2))
            inputs = width * block.widening
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(inputs, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.constant_(module.weight, 1)
                nn.init.constant_(module.bias, 0)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stages(self.stem(x))
        x = nn.functional.adaptive_avg_pool2d(x, 1)
        return self.head(torch.flatten(x, 1))
