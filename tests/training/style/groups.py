"""Parameter groups with a rate and a decay of their own; plain SGD for the rest."""

import torch
from common import Net, batches, filled
from torch import nn


def main():
    model = filled(Net())
    loader = batches()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(
        [
            {"params": model.conv.parameters(), "lr": 0.01},
            {"params": model.norm.parameters(), "weight_decay": 0.0},
            {"params": model.fc.parameters()},
        ],
        lr=0.05,
        momentum=0.9,
        weight_decay=0.05,
    )
    for _ in range(5):
        for x, y in loader:
            pred = model(x)
            loss = loss_fn(pred, y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    return model


if __name__ == "__main__":
    main()
