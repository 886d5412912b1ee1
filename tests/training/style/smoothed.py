"""Label smoothing, AdamW with a schedule per epoch, checkpoints named by the epoch."""

import os
import time

import torch
from common import Net, batches, filled
from torch import nn


def main(folder="checkpoints"):
    os.makedirs(folder, exist_ok=True)
    model = filled(Net())
    loader = batches()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.05)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
    for epoch in range(5):
        start = time.time()
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        scheduler.step()
        print(f"epoch {epoch}: {loss.item():.4f} ({time.time() - start:.1f}s)")
        torch.save(model.state_dict(), os.path.join(folder, f"net_{epoch}.pth"))
    return model


if __name__ == "__main__":
    main()
