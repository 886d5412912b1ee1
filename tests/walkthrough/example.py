"""The program whose way through the stages docs/architecture.md shows."""

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        self.features = self.fc(x)
        return self.features.view(x.size(0), -1)
"""
TRAIN = """\
import torch
import torch.nn.functional as F

from net import Net


def train(batches):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        out = out.detach()
        print(loss.item(), accuracy(out, y))


def accuracy(out, y):
    return (out.argmax(1) == y).float().mean().item()
"""
