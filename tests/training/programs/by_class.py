"""Layers that are found by their class: named, passed on, kept in tuples, lists and dicts."""

import torch
from parts.kinds import COST, KERNELS, cost, count, find, resized
from torch import nn


class Net(nn.Module):
    heavy = (nn.Linear,)

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.up = nn.Upsample(scale_factor=2)
        self.act = nn.Softplus()
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))

    def heads(self):
        return sum(isinstance(m, self.heavy) for m in self.modules())


net = Net()
norms = (nn.modules.batchnorm._BatchNorm, nn.LayerNorm)
print(
    sum(isinstance(m, KERNELS) for m in net.modules()),
    sum(isinstance(m, tuple(norms)) for m in net.modules()),
)
print(
    sum(m.__class__ in KERNELS for m in net.modules()), sum(type(m) in COST for m in net.modules())
)
print(
    count(net), count(net, nn.Linear), count(net, (*KERNELS, nn.Softplus)), cost(net), net.heads()
)
print(len(find(net)), resized(net), sum(issubclass(type(m), KERNELS) for m in net.modules()))
print([int(type(m).__name__ == "Linear") for m in net.head.children()])
print([int(type(m) is nn.Linear or type(m) is nn.Upsample) for m in net.modules()])
print(isinstance(torch.zeros(1), (int, str)), int(isinstance("x", (int, str))))
