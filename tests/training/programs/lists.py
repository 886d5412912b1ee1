"""Lists that a network fills, turns round and adds to: compiled, some of that loses gradients."""

# ruff: noqa - in the style of their authors

import torch
from shared import fill
from torch import nn


class Unit(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)

    def forward(self, x):
        y = self.a(x)
        z = self.b(y)
        return z, [y, z]


class Stages(nn.Sequential):
    def forward(self, x):
        outs = []
        for module in self._modules.values():
            x = module(x)
            if hasattr(module, "several") and module.several:
                outs.extend(x[1])
                x = x[0]
            else:
                outs.append(x)
        return outs


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        unit = Unit()
        unit.several = True
        self.body = Stages(nn.Linear(3, 3), unit, nn.Linear(3, 3))
        self.up = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
        self.head = nn.Linear(3, 1)

    def merge(self, features):
        total = 0
        for i, f in enumerate(reversed(features)):
            total = total + f * (i + 1)
        return total

    def forward(self, x):
        skips = self.body(x)
        for u, s in zip(self.up, reversed(skips)):
            x = u(x) + s
        outs = [torch.tanh(x)]
        for s in reversed(skips):
            outs.insert(0, s * 2)
        outs.extend(o * 0.5 for o in skips)
        rest = outs.copy()
        rest.reverse()
        sums = [x * 3, x * 2]
        sums[0] += rest[0]
        sums[1] *= 2
        return self.head(self.merge(rest) + sums[0] + sums[1])


def main():
    model = fill(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0005)
    x = torch.arange(12.0).view(4, 3) / 10
    for step in range(4):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item(), "weights %.5f" % model.up[0].weight.sum().item())


if __name__ == "__main__":
    main()
