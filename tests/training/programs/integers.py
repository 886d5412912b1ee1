"""Integers and truth values inside of a network: rounded codes, hard examples, places of maxima."""

# ruff: noqa - in the style of their authors

import torch
import torch.nn.functional as F
from shared import fill, toy
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(12, 6)
        self.dec = nn.Linear(6, 4)

    def forward(self, x):
        z = self.enc(x) * 3
        code = z.long().float() / 3
        steps = torch.round(z).to(torch.int32)
        z = z + 0.1 * code + steps * 0.05
        value, place = z.max(dim=1)
        hot = z > value.mean()
        width = (place.float() / 6 + place % 2).unsqueeze(1)
        share = hot.sum(1, keepdim=True) / hot.size(1)
        return self.dec(z * hot + width * share)


def hard_examples(loss):
    hard = loss > loss.mean()
    return (loss * hard).sum() / hard.sum()


def main():
    model = fill(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = toy()
    for step in range(4):
        optimizer.zero_grad()
        loss = hard_examples(F.cross_entropy(model(x), y, reduction="none"))
        loss.backward()
        optimizer.step()
        print("loss %.5f" % loss.item(), "weights %.5f" % model.enc.weight.sum().item())


if __name__ == "__main__":
    main()
