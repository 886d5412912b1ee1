"""A step that Graph mode does not compile goes on in PyNative mode: the last one, for that reason."""

# ruff: noqa - in the style of their authors

import torch
from shared import fill, toy
from torch import nn

model = fill(nn.Linear(12, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
x, y = toy()
for step in range(8):
    optimizer.zero_grad()
    try:
        loss = nn.functional.cross_entropy(model(x), y)
    except ValueError:
        loss = None
    loss.backward()
    optimizer.step()
    print("%.6f" % loss.item())
