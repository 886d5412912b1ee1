"""Convolutions one after the other."""

from torch import nn


def plain_net(num_classes: int, width: int = 8) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1),
        nn.GroupNorm(2, width),
        nn.SiLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Linear(width * 16, num_classes),
    )
