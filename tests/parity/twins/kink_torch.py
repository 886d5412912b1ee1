"""A ReLU whose input is almost zero, in torch."""

import torch
from torch import nn


class Kink(nn.Module):
    """Fed 0.5 first, the first unit is 6e-7: seven times float32's noise, and no more."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.relu = nn.ReLU()
        self.out = nn.Linear(3, 2)
        with torch.no_grad():
            self.fc.weight.copy_(torch.tensor([[1.0, 0.0], [0.3, 0.4], [0.5, -0.2]]))
            self.fc.bias.copy_(torch.tensor([-0.5 + 6e-7, 0.1, 0.2]))

    def forward(self, x):
        return self.out(self.relu(self.fc(x)))
