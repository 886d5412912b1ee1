"""Mixed precision with loss scaling; rates that fall at milestones."""

import torch
from common import Net, batches, filled
from torch import nn
from torch.cuda.amp import GradScaler, autocast


def main():
    model = filled(Net())
    loader = batches()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[2, 4], gamma=0.5)
    scaler = GradScaler()
    for epoch in range(5):
        for x, y in loader:
            optimizer.zero_grad()
            with autocast():
                out = model(x)
                loss = loss_fn(out, y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        scheduler.step()
        print("epoch", epoch, "loss", loss.item())
    return model


if __name__ == "__main__":
    main()
