"""Whole steps on one line, behind a colon, and assignments that stay together."""

# ruff: noqa - in the style of their authors
# fmt: off

import torch
from shared import fill, toy
from torch import nn

net = fill(nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 4)))
x, y = toy(); a = 1; b = 2
opt = torch.optim.SGD(net.parameters(), lr=0.5); lossf = nn.CrossEntropyLoss()
for _ in range(3):
    loss = lossf(net(x), y); opt.zero_grad(); loss.backward(); opt.step()  # all in one
    print(f"{loss.item():.5f}", a, b)
for _ in range(2): loss = lossf(net(x), y); opt.zero_grad(); loss.backward(); opt.step(); print(f"{loss.item():.5f}")
