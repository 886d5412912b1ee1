"""Settings changed between steps: of the network, of its layers, of the optimizer, of the file."""

# ruff: noqa - in the style of their authors

import torch
from shared import fill, toy
from torch import nn

SCALE = 1.0


def rescale(value):
    global SCALE
    SCALE = value


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(12, 16)
        self.norm = nn.BatchNorm1d(16)
        self.act = nn.ReLU()
        self.head = nn.Linear(16, 4)
        self.tau = 1.0
        self.skip = False
        self.options = {"gain": 1.0}

    def forward(self, x):
        x = self.norm(self.fc(x))
        if not self.skip:
            x = self.act(x)
        return self.head(x) * self.options["gain"] / self.tau * SCALE


def change(net, opt, step):
    group = opt.param_groups[0]
    if step == 2:
        net.tau = 2.0
        net.act = nn.Tanh()
    elif step == 4:
        net.skip = True
        net.norm.momentum = 0.4
        for key, value in {"betas": (0.5, 0.9), "eps": 1e-2, "momentum": 0.5}.items():
            if key in group:
                group[key] = value
        group["weight_decay"] = 0.1
    elif step == 6:
        net.options["gain"] = 0.5
        rescale(0.7)


def train(make):
    net = fill(Net())
    opt = make(net.parameters())
    rescale(1.0)
    net.train()
    x, y = toy(16)
    for step in range(8):
        change(net, opt, step)
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"loss {loss.item():.5f}")
    net.eval()
    for tau in (0.5, 3.0):
        net.tau = tau
        with torch.no_grad():
            print(f"out {net(x).abs().sum().item():.4f} {net.norm.running_var.sum().item():.4f}")


train(lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9))
train(lambda parameters: torch.optim.Adam(parameters, lr=0.02))
