"""A network, its weights and batches, the same in every run."""

import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, log_softmax=False):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.fc = nn.Linear(4 * 6 * 6, 3)
        self.log_softmax = log_softmax

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        x = self.fc(x.flatten(1))
        return torch.log_softmax(x, dim=1) if self.log_softmax else x


def filled(model):
    for number, (name, parameter) in enumerate(model.named_parameters()):
        if parameter.dim() > 1:
            values = [math.sin(i * 0.7 + number) * 0.3 for i in range(parameter.numel())]
            with torch.no_grad():
                parameter.copy_(torch.tensor(values).reshape(parameter.shape))
        elif name.endswith("bias"):
            with torch.no_grad():
                parameter.fill_(0.0)
    return model


def batches(count=28, size=8):
    values = [math.cos(i * 1.3) for i in range(count * 36)]
    images = torch.tensor(values).reshape(count, 1, 6, 6)
    labels = torch.tensor([(i * 7 + i // 3) % 3 for i in range(count)])
    return DataLoader(TensorDataset(images, labels), batch_size=size)
