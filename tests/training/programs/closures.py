"""Steps that are given a closure, by position and by name."""

# ruff: noqa - in the style of their authors

import torch
from shared import fill, toy
from torch import nn

net = fill(nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 4)))
x, y = toy()
opt = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
for i in range(0, 32, 8):
    xb, yb = x[i : i + 8], y[i : i + 8]

    def closure():
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(xb), yb)
        loss.backward()
        return loss

    loss = opt.step(closure)
    print(f"{loss.item():.5f}")


def train(model, optimizer):
    for _ in range(4):

        def closure():
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            return loss

        print(f"{closure().item():.5f}")
        optimizer.step(closure=closure)


train(net, torch.optim.Adam(net.parameters(), lr=0.01))
