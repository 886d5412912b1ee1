"""LeNet-5 for CIFAR-10 (LeCun et al., 1998), with ReLU and max pooling as it is trained today."""

from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F


class LeNet5(nn.Module):
    """Two convolutions and three linear layers for 32x32 images: 62,006 parameters."""

    def __init__(self, num_classes: int = 10, in_channels: int = 3, dropout: float = 0.0) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        # 32 -> 28 -> 14 -> 10 -> 5: sixteen maps of 5x5 reach the classifier.
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, num_classes)
        self.dropout = nn.Dropout(dropout)

        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """Both convolutions, each followed by ReLU and a 2x2 max pooling."""
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        return F.max_pool2d(F.relu(self.conv2(x)), 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.features(x)
        x = x.view(x.size(0), -1)
        x = F.relu(self.fc1(x))
        x = self.dropout(F.relu(self.fc2(x)))
        return self.fc3(x)


def lenet5(num_classes: int = 10) -> LeNet5:
    return LeNet5(num_classes)
