"""Layers that see all before them."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Dense(nn.Module):
    def __init__(self, inputs, growth):
        super().__init__()
        self.bn = nn.BatchNorm2d(inputs)
        self.conv = nn.Conv2d(inputs, growth, kernel_size=3, padding=1, bias=False)

    def forward(self, x):
        out = self.conv(F.relu(self.bn(x)))
        return torch.cat([out, x], 1)


class DenseNetTiny(nn.Module):
    def __init__(self, growth=4, depth=3, reduction=0.5, num_classes=10):
        super().__init__()
        planes = 2 * growth
        self.conv1 = nn.Conv2d(3, planes, kernel_size=3, stride=2, padding=1, bias=False)
        self.dense = self._layers(planes, growth, depth)
        planes += depth * growth
        self.squeeze = nn.Conv2d(planes, int(math.floor(planes * reduction)), 1)
        self.linear = nn.Linear(int(math.floor(planes * reduction)), num_classes)

    def _layers(self, planes, growth, depth):
        return nn.Sequential(*[Dense(planes + i * growth, growth) for i in range(depth)])

    def forward(self, x):
        out = self.squeeze(self.dense(self.conv1(x)))
        return self.linear(torch.squeeze(F.adaptive_avg_pool2d(F.relu(out), 1)))
